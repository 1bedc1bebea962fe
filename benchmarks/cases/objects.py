"""Benchmarks: programs with small classes, such as vectors, rays and bodies that are made in each step."""

from __future__ import annotations

import math

from benchmarks.cases.case import LOOPS, Case, grids, uniform


class Vec:
    __slots__ = ("x", "y", "z")

    def __init__(self, x, y, z):
        self.x = x
        self.y = y
        self.z = z

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y, self.z + other.z)

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y, self.z - other.z)

    def __mul__(self, factor):
        return Vec(self.x * factor, self.y * factor, self.z * factor)

    def dot(self, other):
        return self.x * other.x + self.y * other.y + self.z * other.z

    def normalised(self):
        return self * (1.0 / math.sqrt(self.dot(self)))


class Ray:
    def __init__(self, origin, direction):
        self.origin = origin
        self.direction = direction

    def at(self, distance):
        return self.origin + self.direction * distance


class Sphere:
    def __init__(self, centre, radius, shade):
        self.centre = centre
        self.radius = radius
        self.shade = shade

    def hit(self, ray):
        """The distance at which a ray meets the sphere, or -1.0."""
        offset = ray.origin - self.centre
        along = offset.dot(ray.direction)
        under = along * along - offset.dot(offset) + self.radius * self.radius
        return -1.0 if under < 0.0 else -along - math.sqrt(under)


def shade_of(ray, scene, light):
    nearest, found = 1e9, None
    for sphere in scene:
        distance = sphere.hit(ray)
        if 1e-4 < distance < nearest:
            nearest, found = distance, sphere
    if found is None:
        return 0.1
    normal = (ray.at(nearest) - found.centre).normalised()
    return found.shade * (0.2 + 0.8 * max(normal.dot(light), 0.0))


def trace(image):
    height, width = image.shape
    scene = (Sphere(Vec(0.0, 0.0, 0.0), 1.0, 0.9), Sphere(Vec(1.2, 0.3, 1.0), 0.7, 0.6),
             Sphere(Vec(-1.4, -0.2, 0.5), 0.8, 0.7))
    eye, light = Vec(0.0, 0.0, -5.0), Vec(1.0, 1.0, -1.0).normalised()
    for row in range(height):
        for column in range(width):
            direction = Vec((column - width / 2) / width, (row - height / 2) / height, 1.0)
            image[row, column] = shade_of(Ray(eye, direction.normalised()), scene, light)
    return image


class Body:
    def __init__(self, place, speed, mass):
        self.place = place
        self.speed = speed
        self.mass = mass

    def move(self, dt):
        self.place = self.place + self.speed * dt


def orbits(heights, dt):
    sun = Body(Vec(0.0, 0.0, 0.0), Vec(0.0, 0.0, 0.0), 39.5)
    inner = Body(Vec(4.8, -1.2, -0.1), Vec(0.6, 2.8, 0.0), 0.04)
    outer = Body(Vec(8.3, 4.1, -0.4), Vec(-1.0, 1.8, 0.0), 0.01)
    for step in range(len(heights)):
        for one, other in ((sun, inner), (sun, outer), (inner, outer)):
            apart = one.place - other.place
            square = apart.dot(apart)
            pull = dt / (square * math.sqrt(square))
            one.speed = one.speed - apart * (other.mass * pull)
            other.speed = other.speed + apart * (one.mass * pull)
        for body in (sun, inner, outer):
            body.move(dt)
        heights[step] = inner.place.z
    return heights, sun.place.x


CASES = (
    Case("spheres traced, vectors and rays as objects", trace, grids(1), sizes=LOOPS, dtypes=("float64",)),
    Case("orbits of three bodies, as objects", orbits, lambda n, d: (uniform(d, n), 0.01), sizes=LOOPS,
         dtypes=("float64",)),
)
