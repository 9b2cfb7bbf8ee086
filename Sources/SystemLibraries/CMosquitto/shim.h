#pragma once
#include <mosquitto.h>
#include <stdint.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <unistd.h>

// A counter that wakes a poll(2): the module map of Glibc does not show eventfd.
static inline int cmosquitto_wakeup_open(void) { return eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC); }

static inline void cmosquitto_wakeup_raise(int descriptor) {
    uint64_t one = 1;
    // It fails only when the counter is full, and then the reader is awake anyway.
    ssize_t written = write(descriptor, &one, sizeof one);
    (void)written;
}

static inline void cmosquitto_wakeup_clear(int descriptor) {
    uint64_t count;
    ssize_t taken = read(descriptor, &count, sizeof count);
    (void)taken;
}

// pthread_setname_np is hidden behind _GNU_SOURCE. At most 15 characters show.
static inline void cmosquitto_name_thread(const char *name) { prctl(PR_SET_NAME, name, 0, 0, 0); }
