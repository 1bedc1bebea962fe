/* Input and output codes of a launcher, as flat structs.
 *
 * An Input tells how a fetched object becomes frame words. An Output tells how a result object is made, from frame
 * words (native kernels) or from the next object of the kernel's answer (Python kernels). input_codes.h and
 * exit_codes.h parse them once, from tuples, and check every index and word. So the functions in
 * launcher/marshal, which run them, do not check again. */
#include "launcher/codes/codes.h"
#include "launcher/abi.h"

Py_ssize_t
input_words(const Input *input)
{
    Py_ssize_t words = 1;

    switch (input->kind) {
    case IN_SKIP: return 0;
    case IN_ARRAY:
    case IN_TYPED_ARRAY: return 2 + 2 * (Py_ssize_t)input->ndim;
    case IN_COMPLEX: return 2;
    case IN_SCALAR: return scalar_is_complex(input->typenum) ? 2 : 1;
    case IN_RANGE_ITERATOR: return 4;
    case IN_ZIP:
    case IN_DICT_KEYS:
    case IN_DICT_VALUES:
    case IN_SET_ITERATOR:
    case IN_DICT_ITEMS: words = input->kind == IN_ZIP ? 0 : 3; /* fall through */
    case IN_SEQUENCE_ITERATOR:
    case IN_LIST_ITERATOR:
    case IN_TEXT_ITERATOR:
    case IN_BYTES_ITERATOR:
    case IN_REVERSED_ITERATOR:
    case IN_ENUMERATE:
        for (Py_ssize_t i = 0; i < input->count; i++) {
            words += input_words(&input->items[i]);
        }
        return words;
    default: return 1;
    }
}

Py_ssize_t
moving_words(const Input *input)
{
    Py_ssize_t words = input->kind >= IN_DICT_KEYS ? 2 : input->kind != IN_ZIP;
    for (Py_ssize_t i = 0; i < input->count; i++) {
        words += input->items[i].kind < IN_RANGE_ITERATOR ? 0 : moving_words(&input->items[i]);
    }
    return words;
}
