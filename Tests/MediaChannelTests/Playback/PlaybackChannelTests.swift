import Foundation
import IoTCore
import IoTLink
import MediaPlayer
import NIOCore
import NIOPosix
import RecordingStore
import Synchronization
import Testing

@testable import MediaChannel

/// A gateway plays what a camera's disk has recorded, over real sockets.
@Suite("Playback channels", .timeLimit(.minutes(2))) struct PlaybackChannelTests {
    private final class Frames: Recorder {
        private let frames = Mutex<[MediaFrame]>([])
        let isClosed = false

        func take(_ frame: MediaFrame, senderTime: Int64, presentAt: NIODeadline) {
            frames.withLock { $0.append(frame) }
        }

        func end(_ error: IoTError?) {}

        var pictures: [MediaFrame] { frames.withLock { $0.filter { $0.kind == .video } } }
        var hasSound: Bool { frames.withLock { $0.contains { $0.kind == .audio } } }
    }

    /// Events until the end of the playback.
    private func finish(_ use: ChannelRegistry.Use, _ events: AsyncStream<MonitorEvent>) async -> [PlaybackEvent] {
        var all: [PlaybackEvent] = []
        for await event in events {
            guard case .playback(let event) = event else { continue }
            all.append(event)
            if case .finished = event { break }
        }
        return all
    }

    private func refusal(_ body: () async throws -> Void) async -> ErrorCode? {
        do {
            try await body()
            return nil
        } catch {
            return (error as? IoTError)?.code
        }
    }

    @Test("Every recorded picture arrives once, with the events of its files; lists and days come in pages")
    func complete() async throws {
        let disk = try RecordedDisk()
        let recorded = try disk.record().filter { $0.kind == .video }
        disk.write(disk.recording.end())
        disk.disk.stop()
        let camera = try await CalledCamera(key: nil, recordings: disk.recordings())
        let frames = Frames()
        let events = try await camera.withChannel(.playback, actions: [.view, .playback]) { use in
            let channel = use.channel
            let day = RecordedDisk.wall..<RecordedDisk.wall + 86_400_000_000
            let list = try await channel.recordings(in: day)
            #expect(list.items.count >= 2 && list.totalPage == 1 && list.next == nil)
            #expect(try await channel.recordings(in: day, countPerPage: 1).totalPage == list.items.count)
            #expect(try await channel.recordings(in: day, skip: 1).items == Array(list.items.dropFirst()))
            #expect(try await channel.recordedDays(in: day).days.count == 1)
            let wrong = await refusal { _ = try await channel.recordings(in: day, countPerPage: 3_201) }
            #expect(wrong == .invalidParameter)
            #expect(await refusal { try await channel.setPlaybackSpeed(33) } == .invalidParameter)
            try await channel.addRecorder { _, _ in frames }
            let events = await use.events()
            try await channel.seek(to: RecordedDisk.wall)
            try await use.play()
            return await finish(use, events)
        }
        // The player keeps the last pictures for a moment; closing the channel releases them.
        #expect(frames.pictures.map(RecordedDisk.tail) == recorded.map(RecordedDisk.tail))
        #expect(frames.hasSound)
        let names = events.compactMap { event -> String? in
            switch event {
            case .willBeginFile: "begin"
            case .didEndFile(_, nil): "end"
            case .finished(nil): "finished"
            case .position, .replay: nil
            default: "\(event)"
            }
        }
        #expect(names.last == "finished" && names.count % 2 == 1)
        #expect(names.dropLast().enumerated().allSatisfy { $0.element == ($0.offset % 2 == 0 ? "begin" : "end") })
        #expect(events.contains { if case .position = $0 { true } else { false } })
        await camera.close()
    }

    @Test("A recording's file is read in parts; wrong requests and other cameras' recordings are refused")
    func files() async throws {
        let disk = try RecordedDisk()
        _ = try disk.record()
        disk.write(disk.recording.end())
        disk.disk.stop()
        let camera = try await CalledCamera(key: nil, recordings: disk.recordings())
        try await camera.withChannel(.playback, actions: [.view, .playback]) { use in
            let channel = use.channel
            let all = try await channel.recordings(in: 0..<RecordedDisk.wall * 2).items
            let item = try #require(all.first)
            let head = try await channel.readRecording(item.id, at: 0, count: 0)
            #expect(head.size == item.facts?.byteCount && head.bytes.readableBytes == 0 && head.size > 100_000)
            var bytes = ByteBuffer()
            while bytes.readableBytes < head.size {
                var part = try await channel.readRecording(
                    item.id, tag: head.tag, at: Int64(bytes.readableBytes), count: 100_001)
                bytes.writeBuffer(&part.bytes)
            }
            #expect(try Data(contentsOf: disk.file(item)) == Data(bytes.readableBytesView))
            // By its number, and beyond its end.
            let last = try await channel.readRecording(1, at: head.size - 1, count: 100)
            #expect(last.bytes.readableBytes == 1 && last.tag == head.tag)
            func refusal(
                _ item: Int64, _ tag: String? = nil, at offset: Int64 = 0, count: Int = 1
            ) async -> ErrorCode? {
                await self.refusal { _ = try await channel.readRecording(item, tag: tag, at: offset, count: count) }
            }
            #expect(await refusal(99) == .downloadNotFound)
            let other = SegmentID(camera: try #require(CameraNumber(rawValue: 2)), number: 1)
            #expect(await refusal(other.rawValue) == .downloadNotFound)
            #expect(await refusal(1, "another") == .downloadUnavailable)
            #expect(await refusal(1, at: head.size + 1) == .downloadOffsetInvalid)
            #expect(await refusal(1, at: -1) == .downloadOffsetInvalid)
            #expect(await refusal(1, count: 1 << 20 + 1) == .downloadSizeInvalid)
            // Requests of one channel wait for each other.
            async let first = channel.readRecording(1, at: 0, count: 200_000)
            async let second = channel.readRecording(2, at: 0, count: 200_000)
            let sizes = try await (first.bytes.readableBytes, second.bytes.readableBytes)
            #expect(sizes.0 > 100_000 && sizes.1 > 100_000)
        }
        let monitor = await refusal {
            try await camera.withChannel(.monitor, actions: [.view, .playback]) {
                _ = try await $0.channel.readRecording(1, at: 0, count: 1)
            }
        }
        #expect(monitor == .operationNotAllowed)
        await camera.close()
    }

    @Test("Playback does not wait for a file that takes long")
    func independent() async throws {
        let disk = try RecordedDisk()
        _ = try disk.record()
        disk.write(disk.recording.end())
        disk.disk.stop()
        let recordings = disk.recordings()
        let camera = try await CalledCamera(key: nil, recordings: recordings)
        let gate = DispatchSemaphore(value: 0)
        let held = recordings.files.perform(on: MultiThreadedEventLoopGroup.singleton.any()) { gate.wait() }
        try await camera.withChannel(.playback, actions: [.view, .playback]) { use in
            async let file = use.channel.readRecording(1, at: 0, count: 1)
            let events = await use.events()
            try await use.channel.seek(to: RecordedDisk.wall, speed: 16)
            try await use.play()
            #expect(await finish(use, events).count > 2)
            gate.signal()
            #expect(try await file.bytes.readableBytes == 1)
        }
        try await held.get()
        await camera.close()
    }

    @Test("Without the right, without recordings, and on a monitor channel, playback is refused")
    func refusals() async throws {
        let disk = try RecordedDisk()
        let camera = try await CalledCamera(key: nil, recordings: disk.recordings())
        let plain = try await CalledCamera(key: nil)
        let rights: [CallAction] = [.view, .playback]
        let withoutRight = await refusal { try await camera.withChannel(.playback, actions: [.view]) { _ in } }
        #expect(withoutRight == .callTokenRejected)
        let empty = await refusal { try await camera.withChannel(.playback, actions: rights) { _ in } }
        #expect(empty == .downloadNotFound)
        let notRecorded = await refusal { try await plain.withChannel(.playback, actions: rights) { _ in } }
        #expect(notRecorded == .operationNotAllowed)
        let monitor = await refusal {
            try await camera.withChannel(.monitor, actions: rights) { try await $0.channel.seek(to: 0) }
        }
        #expect(monitor == .operationNotAllowed)
        disk.disk.stop()
        await camera.close()
        await plain.close()
    }
}
