/* Bounds of a thread's C stack.
 *
 * A call of a JitFunction takes C stack, and up to 3.13 CPython counts levels instead of bytes. A program that raises
 * the recursion limit far gets a RecursionError shortly before the stack ends. */
#ifndef PIJIT_CPYTHON_STACK_END_INL_H
#define PIJIT_CPYTHON_STACK_END_INL_H

#include <Python.h> /* before system headers: it chooses what they declare */
#include <pthread.h>
#include <stdint.h>

/* Bytes at the end of a stack that calls must not use. */
#define STACK_RESERVE (256 * 1024)
/* A small stack keeps 1 / SMALL_PART of its size as reserve; a capture begins only if that part of the stack is
 * free. */
#define SMALL_PART 4

/* The bounds of a thread's stack. A library may run code on another stack, whose bounds are unknown. */
typedef struct {
    uintptr_t low;   /* 0: not determined yet */
    uintptr_t limit; /* addresses from `low` to below `limit` are close to the end */
    uintptr_t room;  /* from this address on there is room for a capture */
} StackBounds;

#define STACK_UNKNOWN {0, UINTPTR_MAX, 0}

static void
stack_bounds_set(StackBounds *bounds, uintptr_t low, size_t size)
{
    size_t part = size / SMALL_PART;
    bounds->low = low;
    bounds->limit = low + (part < STACK_RESERVE ? part : STACK_RESERVE);
    bounds->room = low + part;
}

static void
stack_bounds_find(StackBounds *bounds)
{
    stack_bounds_set(bounds, 1, 0); /* unknown stack: no address is close to its end */
#if defined(__APPLE__)
    size_t size = pthread_get_stacksize_np(pthread_self());
    stack_bounds_set(bounds, (uintptr_t)pthread_get_stackaddr_np(pthread_self()) - size, size);
#elif defined(__linux__)
    pthread_attr_t attributes;
    void *low;
    size_t size;
    if (pthread_getattr_np(pthread_self(), &attributes) == 0) {
        if (pthread_attr_getstack(&attributes, &low, &size) == 0) {
            stack_bounds_set(bounds, (uintptr_t)low, size);
        }
        pthread_attr_destroy(&attributes);
    }
#endif
}

/* Whether an address on the stack is close to its end. */
static inline int
stack_is_low(StackBounds *bounds, uintptr_t address)
{
    if (address >= bounds->limit) {
        return 0;
    }
    if (bounds->low == 0) {
        stack_bounds_find(bounds);
    }
    return address < bounds->limit && address >= bounds->low;
}

/* Whether some bytes below an address on the stack are not close to its end. */
static inline int
stack_has_room(StackBounds *bounds, uintptr_t address, uintptr_t bytes)
{
    if (address >= bounds->limit && address - bounds->limit >= bytes) {
        return 1;
    }
    if (bounds->low == 0) {
        stack_bounds_find(bounds);
    }
    return address < bounds->low || (address >= bounds->limit && address - bounds->limit >= bytes);
}

#endif
