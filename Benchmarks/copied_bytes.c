// Counts the bytes that a program copies: copied_bytes.py preloads it, and it replaces libc's memcpy and memmove.
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

static _Atomic unsigned long long before_start;
static _Atomic unsigned long long *copied = &before_start;

// COPIED_BYTES names the counter's file.
__attribute__((constructor)) static void open_counter(void) {
    const char *path = getenv("COPIED_BYTES");
    int file = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file < 0) return;
    if (ftruncate(file, sizeof *copied) == 0) {
        void *place = mmap(NULL, sizeof *copied, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        if (place != MAP_FAILED) copied = place;
    }
    close(file);
}

// A string instruction, because the compiler would turn a loop into a call of memcpy.
void *memmove(void *target, const void *source, size_t count) {
    char *to = target;
    const char *from = source;
    atomic_fetch_add_explicit(copied, count, memory_order_relaxed);
    if (to <= from || to >= from + count) {
        __asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    } else {
        to += count - 1;
        from += count - 1;
        __asm__ volatile("std; rep movsb; cld" : "+D"(to), "+S"(from), "+c"(count) : : "memory");
    }
    return target;
}

void *memcpy(void *target, const void *source, size_t count) { return memmove(target, source, count); }
