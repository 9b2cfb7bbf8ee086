import Foundation
import Glibc
import IoTCore
import TestSupport
import Testing

@testable import MediaCodec

/// With alsa-lib's plug-ins `file` and `null` in place of sound devices.
@Suite(.serialized) struct ALSATests {
    private let folder: TemporaryFolder

    init() throws {
        folder = try TemporaryFolder()
        let configuration = """
            pcm.null { type null }
            pcm.speaker { type file slave.pcm null file "\(folder.file("played"))" format raw }
            pcm.microphone { type file slave.pcm null file /dev/null infile "\(folder.file("spoken"))" format raw }
            """
        try configuration.write(toFile: folder.file("asound.conf"), atomically: true, encoding: .utf8)
        setenv("ALSA_CONFIG_PATH", folder.file("asound.conf"), 1)
    }

    private func noise(_ count: Int) -> [Int16] {
        var generator = SeededGenerator(seed: 1)
        return (0..<count).map { _ in Int16.random(in: -8_000...8_000, using: &generator) }
    }

    @Test("A loudspeaker plays exactly what it is given, to the end")
    func playback() async throws {
        let sound = noise(24_000)
        let loudspeaker = ThreadedLoudspeaker(alsaDevice: "speaker")
        try await loudspeaker.open()
        loudspeaker.play(sound)
        await loudspeaker.close()
        #expect(loudspeaker.failure == nil && loudspeaker.dropped == 0)
        let played = try Data(contentsOf: URL(fileURLWithPath: folder.file("played")))
            .withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        #expect(Array(played.prefix(sound.count)) == sound)
        #expect(played.dropFirst(sound.count).allSatisfy { $0 == 0 }, "the device is filled with silence at the end")
    }

    @Test("A microphone yields exactly what the device records, until it is closed", .timeLimit(.minutes(1)))
    func capture() async throws {
        let sound = noise(20_000)
        try sound.withUnsafeBytes { Data($0) }.write(to: URL(fileURLWithPath: folder.file("spoken")))
        let microphone = ALSAMicrophone(device: "microphone")
        var heard: [Int16] = []
        while heard.count < sound.count, microphone.end == nil, !Task.isCancelled {
            heard += microphone.take(960)
            await Task.yield()
        }
        #expect(Array(heard.prefix(sound.count)) == sound)
        #expect(microphone.isLive && microphone.dropped == 0)
        microphone.close()
        while microphone.end == nil, !Task.isCancelled {
            _ = microphone.take(.max)
            await Task.yield()
        }
    }

    @Test("A device that is absent, and names that are no devices, are refused with a number", .timeLimit(.minutes(1)))
    func refused() async throws {
        for (name, code) in [
            ("absent", ErrorCode.sourceNotFound), ("", .invalidParameter), ("file:FILE=stolen", .invalidParameter),
            ("plug:file:stolen", .invalidParameter), ("tee:null,stolen", .invalidParameter),
            ("file:'|id'", .invalidParameter), ("{ type null }", .invalidParameter), ("a\nb", .invalidParameter),
        ] {
            let loudspeaker = ThreadedLoudspeaker(alsaDevice: name)
            let error = await #expect(throws: IoTError.self) { try await loudspeaker.open() }
            #expect(error?.code == code, "\(name)")
            let microphone = ALSAMicrophone(device: name)
            while microphone.end == nil, !Task.isCancelled { await Task.yield() }
            guard case .failed(let failure)? = microphone.end else {
                Issue.record("\(name)")
                continue
            }
            #expect(failure.code == code, "\(name)")
        }
        for name in ["plughw:CARD=Device,DEV=0", "default", "sysdefault:CARD=PCH", "hw:1,0"] {
            let error = #expect(throws: IoTError.self) { _ = try ALSADevice(name, .playback) }
            #expect(error?.code != .invalidParameter, "\(name)")
        }
    }

    @Test("After an underrun or an overrun the device is started again; one that stays away is an error")
    func recovery() throws {
        FakeDevice.reset([5, -CLong(EPIPE), 5, -CLong(EPIPE), 950, 960])
        let device = try ALSADevice("fake", .playback, library: FakeDevice.library)
        try device.write([Int16](repeating: 1, count: 960))
        #expect(device.overruns == 2 && FakeDevice.recovered == 2)
        FakeDevice.reset([-CLong(EPIPE), 480])
        let microphone = try ALSADevice("fake", .capture, library: FakeDevice.library)
        #expect(try microphone.read().isEmpty)
        #expect(try microphone.read().count == 480)
        FakeDevice.reset([-CLong(ENODEV)])
        let error = #expect(throws: IoTError.self) { _ = try microphone.read() }
        #expect(error?.code == .sourceUnreachable)
        FakeDevice.reset([CLong](repeating: 0, count: 100))
        let stuck = #expect(throws: IoTError.self) { try device.write([1]) }
        #expect(stuck?.code == .sourceUnreachable)
    }
}

/// alsa-lib's functions with scripted results. Used by one test at a time.
private enum FakeDevice {
    nonisolated(unsafe) static var results: [CLong] = []
    nonisolated(unsafe) static var recovered = 0

    static func reset(_ results: [CLong]) {
        self.results = results
        recovered = 0
    }

    static let library = ALSALibrary(
        open: { device, _, _, _ in
            device.pointee = OpaquePointer(bitPattern: 1)
            return 0
        },
        setParameters: { _, _, _, _, _, _, _ in 0 },
        read: { _, _, _ in FakeDevice.results.removeFirst() },
        write: { _, _, _ in FakeDevice.results.removeFirst() },
        recover: { _, code, _ in
            guard code == -EPIPE else { return code }
            FakeDevice.recovered += 1
            return 0
        },
        drain: { _ in 0 }, close: { _ in 0 }, describe: { strerror(-$0).map { UnsafePointer($0) } })
}
