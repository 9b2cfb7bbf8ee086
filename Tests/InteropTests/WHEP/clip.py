"""A clip whose pictures contain their number, so that a client can check which pictures it shows, in which order."""

import os
import subprocess

RATE = 30
COUNT = 1200
GROUP = 300
WIDTH, HEIGHT = 480, 272
BIT_WIDTH, STRIPE = 24, 32
NUMBER_BITS, BITS = 11, 19


def code(number):
    """The number with a check code: a picture that lacks a part of an earlier one shows bits of both."""
    return number | (number * 167 + 91 >> 2 & 0xFF) << NUMBER_BITS


def make(path):
    """H.264 at about 4 Mbit/s, a key frame every 10 s, no reordering: a stripe with the number, and noise below it."""
    encoder = subprocess.Popen(
        ["ffmpeg", "-v", "error", "-y", "-f", "rawvideo", "-pix_fmt", "yuv420p", "-s", f"{WIDTH}x{HEIGHT}",
         "-r", str(RATE), "-i", "-", "-c:v", "libx264", "-preset", "ultrafast", "-profile:v", "baseline",
         "-g", str(GROUP), "-sc_threshold", "0", "-b:v", "4M", "-maxrate", "4M", "-bufsize", "2M",
         "-pix_fmt", "yuv420p", str(path)], stdin=subprocess.PIPE)
    noise = bytes(64 + value // 2 for value in os.urandom(2 * WIDTH * HEIGHT))
    colour = bytes([128]) * (WIDTH * HEIGHT // 2)
    for number in range(COUNT):
        row = b"".join(
            bytes([235 if code(number) >> bit & 1 else 16]) * BIT_WIDTH for bit in range(BITS))
        row += bytes([16]) * (WIDTH - len(row))
        offset = number * 7919 % (WIDTH * HEIGHT)
        encoder.stdin.write(row * STRIPE + noise[offset:offset + WIDTH * (HEIGHT - STRIPE)] + colour)
    encoder.stdin.close()
    assert encoder.wait() == 0, "ffmpeg failed"


def number(plane, line_size):
    """The number in a decoded picture's luma plane; `None` if the picture is damaged."""
    value = 0
    for bit in range(BITS):
        if plane[STRIPE // 2 * line_size + bit * BIT_WIDTH + BIT_WIDTH // 2] > 125:
            value |= 1 << bit
    found = value & (1 << NUMBER_BITS) - 1
    return found if code(found) == value else None


def steps(numbers):
    """The difference from each picture to the next: 1 if none is missing; the clip is played in a loop."""
    return [(after - before) % COUNT for before, after in zip(numbers, numbers[1:])]
