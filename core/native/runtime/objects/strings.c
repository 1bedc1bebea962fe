/* Strings and bytes in kernels: their items, and comparisons. */
#include "runtime/objects/strings.h"
#include "launcher/abi.h"
#include "runtime/entries.h"
#include "runtime/objects/construct.h"
#include "runtime/objects/stores.h"
#include "runtime/runtime_inl.h"
#include <string.h>

/* The position must be inside the string. */
int64_t
runtime_char_code(int64_t text, int64_t index)
{
    return (int64_t)PyUnicode_READ_CHAR((PyObject *)text, index);
}

/* Stores the string of one character in the first word of `spec`. The frame owns it. */
int64_t
runtime_char_at(int64_t frame, int64_t text, int64_t index, int64_t spec)
{
    return spec_answer(frame, (int64_t *)spec, PyUnicode_FromOrdinal((int)PyUnicode_READ_CHAR((PyObject *)text, index)));
}

/* The address of a byte, or NULL if the position is outside. A bytearray may have changed its size, so the position is
 * checked here. */
static unsigned char *
byte_address(int64_t owner, int64_t index)
{
    PyObject *object = (PyObject *)owner;
    index += index < 0 ? Py_SIZE(object) : 0;
    if (index < 0 || index >= Py_SIZE(object)) {
        return NULL;
    }
    return (unsigned char *)(PyBytes_Check(object) ? PyBytes_AS_STRING(object) : PyByteArray_AS_STRING(object)) + index;
}

/* The byte, or -1 if the position is outside. */
int64_t
runtime_byte_at(int64_t owner, int64_t index)
{
    const unsigned char *slot = byte_address(owner, index);
    return slot == NULL ? -1 : *slot;
}

int64_t
runtime_store_byte(int64_t owner, int64_t index, int64_t value)
{
    unsigned char *slot = byte_address(owner, index);
    if (slot == NULL || value < 0 || value > 255) {
        return BAILED_OUT;
    }
    *slot = (unsigned char)value;
    return 0;
}

int64_t
runtime_same_text(int64_t one, int64_t other)
{
    PyObject *left = (PyObject *)one, *right = (PyObject *)other;
    if (left == right) {
        return 1;
    }
    Py_ssize_t length = PyUnicode_GET_LENGTH(left);
    int kind = PyUnicode_KIND(left);
    return length == PyUnicode_GET_LENGTH(right) && kind == (int)PyUnicode_KIND(right)
           && memcmp(PyUnicode_DATA(left), PyUnicode_DATA(right), (size_t)length * kind) == 0;
}

/* Stores the concatenation of two strings in the first word of `spec`. The frame owns it. */
int64_t
runtime_text_add(int64_t frame, int64_t left, int64_t right, int64_t spec)
{
    return spec_answer(frame, (int64_t *)spec, PyUnicode_Concat((PyObject *)left, (PyObject *)right));
}

int
owned_take(OwnedList *owned, PyObject *object)
{
    for (Py_ssize_t i = owned->count - 1; i >= 0; i--) {
        if (owned->items[i] == object) {
            owned->count--;
            memmove(owned->items + i, owned->items + i + 1, (owned->count - i) * sizeof(PyObject *));
            return 1;
        }
    }
    return 0;
}

/* Like text_add, but the frame releases the left string. The string may then grow in place, like that of a variable in
 * bytecode. */
int64_t
runtime_text_append(int64_t frame, int64_t left, int64_t right, int64_t spec)
{
    PyObject *text = (PyObject *)left; /* owned from here on */
    if (!owned_take(frame_owned(frame), text)) {
        return runtime_text_add(frame, left, right, spec);
    }
    PyUnicode_Append(&text, (PyObject *)right);
    return spec_answer(frame, (int64_t *)spec, text);
}

/* Stores 0 or 1 in the first word of `spec`: whether one string contains the other. */
int64_t
runtime_has_text(int64_t text, int64_t part, int64_t spec)
{
    int found = PyUnicode_Contains((PyObject *)text, (PyObject *)part);
    *(int64_t *)spec = found;
    if (found < 0) {
        PyErr_Clear();
        return BAILED_OUT;
    }
    return 0;
}
