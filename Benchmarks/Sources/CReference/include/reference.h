#pragma once
#include <netinet/in.h>
#include <stddef.h>
#include <stdint.h>

/* Allocations of this thread so far. */
uint64_t reference_allocations(void);

/* CPU time of this thread, ns. */
int64_t reference_thread_cpu(void);

/* User and system time of this process, ns. */
int64_t reference_process_cpu(void);

/* The simplest program that sends one stream to many viewers: each packet is copied after a header, sealed
   with AES-128-GCM by EVP, and each viewer's packets of a frame are sent by one sendmsg with UDP_SEGMENT.
   Returns the CPU time in ns; -1 on an error. Sends `frames` frames at `interval_ns`. */
int64_t reference_fanout(const uint16_t *ports, int viewers, int frames, int64_t interval_ns,
                         int packets_a_frame, int packet_bytes);

/* ns of CPU to seal one packet of 1200 bytes: with AES-128-GCM (0), AES-256-GCM (1), or AES-128-CTR and HMAC-SHA1 (2). */
double reference_seal(int profile, int rounds);

/* ns of CPU for one DTLS 1.2 handshake, both sides, between two OpenSSL sessions that share a certificate; -1 on an
   error. */
double reference_handshake(int rounds);
