// Defaults of AddressSanitizer and LeakSanitizer for programs of the asan
// preset.
//
// LLVM's allocators are inline functions that poison the memory they have not
// handed out. The copies in our code do, those in a plain libMLIR.so do not,
// and memory that one poisons the other hands out.
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "allow_user_poisoning=0"; }

// The OpenMP runtime keeps what it allocates for threads to the end.
const char *__lsan_default_suppressions(void);
const char *__lsan_default_suppressions(void) { return "leak:libomp"; }
