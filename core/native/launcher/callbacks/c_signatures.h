/* The C functions that stand for CCallbacks, by signature. */
#ifndef PIJIT_LAUNCHER_CALLBACKS_C_SIGNATURES_H
#define PIJIT_LAUNCHER_CALLBACKS_C_SIGNATURES_H

#include "launcher/callbacks/c_callback.h"

struct CSignature {
    const char *text;
    void *function; /* takes a CCallback as its last argument, `void *` */
};

/* The signature with this text, or NULL. */
const CSignature *signature_find(const char *text);

#endif
