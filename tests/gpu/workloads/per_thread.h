// What copies.cu asks of per_thread.cu, which is compiled with other flags.
#pragma once

// Launches per_thread_kernel `launches` times from each of `threads` new threads, on each thread's
// own default stream, and waits: one stream synchronization a thread.
void LaunchPerThread(int threads, int launches);
