// killed-writer DIRECTORY SECOND: records sound from this second of virtual time on, in segments of six seconds, as fast
// as the disk takes it, until it is killed. It prints what was synced (`PrintingIndex`).
//
// Each frame has its number in its first eight bytes; its other bytes are the number's last one.

import Dispatch
import Glibc
import IoTCore
import MediaCodec
import NIOCore
import RecordingStore
import Synchronization

let directory = CommandLine.arguments[1]
guard let second = Int64(CommandLine.arguments[2]) else { exit(2) }
let rate: Int64 = 48_000
let samples: Int64 = 1_024
/// So that a kill often comes in the middle of a write.
let frameSize = 10_000
let framesOfSegment: Int64 = 282
let wall = 1_764_000_000_000_000 + second * 1_000_000

let clock = Mutex(Moment(monotonic: 0, wall: wall))
let synced = DispatchSemaphore(value: 0)
let index = try RecordingIndex(path: directory + "/index.sqlite")
let camera = try index.camera(named: "front")
var configuration = DiskConfiguration(path: directory + "/disk")
configuration.floor = 0
configuration.sync = .strict
let disk = RecordingDisk(
    files: POSIXRecordingFiles(path: directory + "/disk", requiresMount: false),
    index: PrintingIndex(index: index, synced: synced), scanner: MP4SegmentScanner(), leases: SegmentLeases(),
    configuration: configuration, clock: { clock.withLock { $0 } }
) { _ in }
let tracks = SegmentTracks(
    audio: AudioParameters(codec: .aac, sampleRate: Int(rate), channels: 2, audioSpecificConfig: [0x11, 0x90]))
let run = RunFacts(boot: "boot", monotonicStart: 0, wallAnchor: wall, quality: .synchronised)

var segment: SegmentWriter?
for number in 0..<Int64.max / 1_000_000_000 {
    let time = number * samples * 1_000_000 / rate
    if number % framesOfSegment == 0 {
        if var last = segment.take() {
            if let fragment = last.flush() { disk.append(StoredFragment(fragment), of: camera) }
            disk.end(SegmentEnding(last.close()), of: camera)
        }
        let next = try SegmentWriter(tracks: tracks, start: time, created: wall + time)
        disk.begin(SegmentOpening(header: next.header, sampleEntry: tracks.sampleEntries, run: run), of: camera)
        segment = next
    }
    var bytes = ByteBuffer(integer: number)
    bytes.writeRepeatingByte(UInt8(truncatingIfNeeded: number), count: frameSize - 8)
    let frame = MediaFrame(kind: .audio, isKeyFrame: true, pts: time, dts: time, bytes: bytes)
    guard let fragment = try segment?.append(frame, wallClock: wall + time) else { continue }
    clock.withLock { $0 = Moment(monotonic: time, wall: wall + time) }
    disk.append(StoredFragment(fragment), of: camera)
    // Not further than the disk; nothing is synced before the second fragment.
    _ = synced.wait(timeout: .now() + .milliseconds(50))
}
