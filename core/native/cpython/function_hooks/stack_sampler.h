/* The stack sampler: every 20 ms, the functions on the threads' stacks get the processor time since the last sample.
 *
 * A native thread asks for the GIL, looks at the stacks, and gives the GIL back. */
#ifndef PIJIT_CPYTHON_STACK_SAMPLER_H
#define PIJIT_CPYTHON_STACK_SAMPLER_H

/* Start the sampler if it is not running. 0: it cannot see the calls of this thread, because that belongs to another
 * interpreter, or the sampler was stopped for good. No exception is set. */
int sampler_start(void);

/* Stop the sampler and wait, without the GIL, until its thread has ended. `for_good`: sampler_start does not start it
 * again. */
void sampler_stop(int for_good);

#endif
