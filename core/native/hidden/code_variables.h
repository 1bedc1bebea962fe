/* Shapes: the variables of code objects. */
#ifndef PIJIT_HIDDEN_CODE_VARIABLES_H
#define PIJIT_HIDDEN_CODE_VARIABLES_H

#include "function/dispatch.h"
#include "hidden/hidden.h"

void shape_clear(Shape *shape);

/* Fill a shape: 0, or -1 with an exception set. */
int shape_fill(Shape *shape, PyCodeObject *code);

#endif
