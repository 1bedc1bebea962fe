/* NumPy's table of functions, imported late: programs that use no arrays start without NumPy. */
#ifndef PIJIT_GUARDS_NUMPY_READY_H
#define PIJIT_GUARDS_NUMPY_READY_H

/* Import NumPy, unless this was done before: 0, or -1 with an exception set. No other function of this module may use
 * NumPy's C API before; a guard program with steps is the first that does. */
int numpy_ready(void);

#endif
