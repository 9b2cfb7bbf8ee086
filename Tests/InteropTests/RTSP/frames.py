"""The MD5 sums of decoded frames."""

import subprocess

from daemon import SAMPLES

CLIP = "street-h264-aac.mp4"


def digests(text):
    """The sums in the output of ffmpeg's framemd5."""
    return [line.split(",")[-1].strip() for line in text.splitlines() if line and not line.startswith("#")]


def source_digests():
    outcome = subprocess.run(
        ["ffmpeg", "-v", "error", "-nostdin", "-i", str(SAMPLES / CLIP), "-map", "0:v:0", "-fps_mode", "passthrough",
         "-f", "framemd5", "-"], check=True, capture_output=True, text=True)
    return digests(outcome.stdout)


def has_no_gap(shown, source):
    """Whether the frames are consecutive in the endless repetition of the source."""
    return any(
        all(frame == source[(start + index) % len(source)] for index, frame in enumerate(shown))
        for start in range(len(source)))
