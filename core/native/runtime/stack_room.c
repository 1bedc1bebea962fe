/* Room on a thread's C stack for kernels that have memory there (stack arrays). */
#include "cpython/stack_end_inl.h"
#include "launcher/abi.h"
#include "runtime/entries.h"

static __thread StackBounds bounds = STACK_UNKNOWN;

int64_t
runtime_stack_room(int64_t bytes)
{
    return stack_has_room(&bounds, (uintptr_t)__builtin_frame_address(0), (uintptr_t)bytes);
}
