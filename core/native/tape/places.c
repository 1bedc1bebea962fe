#include "tape/places.h"
#include "cpython/frame_place_inl.h"
#include "tape/pointer_map.h"
#include "tape/pointer_map_inl.h"

#define FEWEST_PLACES 32

static PointerMap instrumented; /* number 1: a code object that runs on tapes; 0: no longer */

/* The innermost frame of instrumented code: its code, borrowed, and the offset of its instruction. NULL: none. */
static PyCodeObject *
current_place(int *offset)
{
    PyFrameObject *frame = PyEval_GetFrame(); /* owned from here on */
    PyCodeObject *code = NULL;
    Py_XINCREF(frame);
    *offset = 0;
    while (frame != NULL && code == NULL) {
        if (pointer_map_get(&instrumented, frame_code(frame)) == 1) {
            code = frame_code(frame);
            *offset = frame_offset(frame);
        }
        else {
            PyFrameObject *back = frame_back(frame); /* moved */
            Py_DECREF(frame);
            frame = back;
        }
    }
    Py_XDECREF(frame); /* a frame on the stack has the code */
    return code;
}

/* NEW (file, line), or None. */
static PyObject *
place_value(PyCodeObject *code, int offset)
{
    if (code == NULL) {
        Py_RETURN_NONE;
    }
    return Py_BuildValue("(Oi)", code->co_filename, PyCode_Addr2Line(code, offset));
}

/* ---- The table -------------------------------------------------------------------------------------------- */

static size_t
place_hash(const PyCodeObject *code, int offset)
{
    return ((size_t)(uintptr_t)code >> 4) * 31 + (size_t)offset * 7;
}

/* The item of a place, or the unused one where it belongs. An unused item has no count and no cuts. */
static Place *
place_find(const Places *places, const PyCodeObject *code, int offset)
{
    for (size_t at = place_hash(code, offset);; at++) {
        Place *item = &places->items[at & places->mask];
        if ((item->code == code && item->offset == offset) || (item->count == 0 && item->cuts == NULL)) {
            return item;
        }
    }
}

static int
places_grow(Places *places)
{
    size_t count = places->mask != 0 ? (places->mask + 1) * 2 : FEWEST_PLACES;
    Places grown = {PyMem_New(Place, count), count - 1, places->used, PyMem_New(size_t, count)};
    if (grown.items == NULL || grown.order == NULL) {
        PyMem_Free(grown.items);
        PyMem_Free(grown.order);
        PyErr_NoMemory();
        return -1;
    }
    memset(grown.items, 0, count * sizeof(Place));
    for (size_t i = 0; i < places->used; i++) {
        const Place *old = &places->items[places->order[i]];
        Place *item = place_find(&grown, old->code, old->offset);
        *item = *old;
        grown.order[i] = (size_t)(item - grown.items);
    }
    PyMem_Free(places->items);
    PyMem_Free(places->order);
    *places = grown;
    return 0;
}

/* The item of the current place, which is made if there is none; the caller must give it a count or a cut. NULL with an
 * exception set. */
static Place *
place_here(Places *places)
{
    if ((places->mask == 0 || places->used * 2 > places->mask) && places_grow(places) < 0) {
        return NULL;
    }
    int offset;
    PyCodeObject *code = current_place(&offset); /* borrowed */
    Place *item = place_find(places, code, offset);
    if (item->count == 0 && item->cuts == NULL) {
        Py_XINCREF(code);
        item->code = code;
        item->offset = offset;
        item->number = (int)places->used;
        places->order[places->used++] = (size_t)(item - places->items);
    }
    return item;
}

int
places_count(Places *places)
{
    Place *item = place_here(places);
    if (item == NULL) {
        return -1;
    }
    item->count++;
    return item->number;
}

PyObject *
places_value(const Places *places, int number)
{
    const Place *item = &places->items[places->order[number]];
    return place_value(item->code, item->offset);
}

int
places_cut(Places *places, PyObject *name)
{
    PyObject *names = PyList_New(0); /* owned, given away */
    Place *item = names != NULL ? place_here(places) : NULL;
    if (item == NULL) {
        Py_XDECREF(names);
        return -1;
    }
    if (item->cuts == NULL) {
        item->cuts = names;
    }
    else {
        Py_DECREF(names);
    }
    int has = PySequence_Contains(item->cuts, name); /* names are strings, whose comparison runs no code */
    return has < 0 ? -1 : has ? 0 : PyList_Append(item->cuts, name);
}

/* ---- What was noted --------------------------------------------------------------------------------------- */

/* Add to the count of a key of a dict: 0, or -1 with an exception set. */
static int
dict_add(PyObject *dict, PyObject *key, Py_ssize_t count)
{
    PyObject *before = PyDict_GetItem(dict, key);                                                /* borrowed */
    PyObject *sum = PyLong_FromSsize_t(count + (before != NULL ? PyLong_AsSsize_t(before) : 0)); /* owned */
    int done = sum != NULL ? PyDict_SetItem(dict, key, sum) : -1;
    Py_XDECREF(sum);
    return done;
}

PyObject *
places_lines(const Places *places)
{
    PyObject *lines = PyDict_New(); /* owned, given away */
    for (size_t i = 0; lines != NULL && i < places->used; i++) {
        const Place *item = &places->items[places->order[i]];
        if (item->count == 0) {
            continue;
        }
        PyObject *key = place_value(item->code, item->offset); /* owned */
        if (key == NULL || dict_add(lines, key, item->count) < 0) {
            Py_CLEAR(lines);
        }
        Py_XDECREF(key);
    }
    return lines;
}

PyObject *
places_cuts(const Places *places)
{
    PyObject *cuts = PyList_New(0); /* owned, given away */
    for (size_t i = 0; cuts != NULL && i < places->used; i++) {
        const Place *item = &places->items[places->order[i]];
        for (Py_ssize_t k = 0; cuts != NULL && item->cuts != NULL && k < PyList_GET_SIZE(item->cuts); k++) {
            PyObject *place = place_value(item->code, item->offset); /* owned, given away */
            PyObject *cut = place != NULL ? Py_BuildValue("(NO)", place, PyList_GET_ITEM(item->cuts, k)) : NULL; /* owned */
            if (cut == NULL || PyList_Append(cuts, cut) < 0) {
                Py_CLEAR(cuts);
            }
            Py_XDECREF(cut);
        }
    }
    return cuts;
}

int
places_traverse(const Places *places, visitproc visit, void *arg)
{
    for (size_t i = 0; i < places->used; i++) {
        Py_VISIT(places->items[places->order[i]].cuts);
    }
    return 0;
}

void
places_release(Places *places)
{
    Places old = *places; /* moved: finalizers may look at the tape */
    memset(places, 0, sizeof(*places));
    for (size_t i = 0; i < old.used; i++) {
        Py_XDECREF(old.items[old.order[i]].code);
        Py_XDECREF(old.items[old.order[i]].cuts);
    }
    PyMem_Free(old.items);
    PyMem_Free(old.order);
}

/* ---- Functions of the module ------------------------------------------------------------------------------ */

PyObject *
places_set_instrumented(PyObject *Py_UNUSED(module), PyObject *args)
{
    PyObject *code; /* borrowed */
    int on;
    if (!PyArg_ParseTuple(args, "O!p:set_instrumented", &PyCode_Type, &code, &on)
        || pointer_map_set(&instrumented, code, on) < 0) {
        return NULL;
    }
    Py_RETURN_NONE;
}

PyObject *
places_is_instrumented(PyObject *Py_UNUSED(module), PyObject *code)
{
    return PyBool_FromLong(pointer_map_get(&instrumented, code) == 1);
}

PyObject *
places_user_place(PyObject *Py_UNUSED(module), PyObject *Py_UNUSED(args))
{
    int offset;
    PyCodeObject *code = current_place(&offset); /* borrowed */
    Py_XINCREF(code);
    PyObject *place = place_value(code, offset); /* owned, given away */
    Py_XDECREF(code);
    return place;
}
