import Foundation
import IoTCore
import Logging
import MediaChannel
import NIOCore
import NIOPosix

/// Speaks to an RTSP camera: `talk-probe URL < SOUND`, where SOUND is raw mono Int16 of 48 kHz, played in real time.
///
/// Prints `open` when the camera accepts sound, and ends a second after the last sample. Then it prints the longest time
/// that the machine let it wait, as `late MILLISECONDS`: sound that comes later than `BackChannelFeed.patience` has silence
/// before it.
@main
enum TalkProbe {
    private static let frameSize = 960
    private static let frameDuration = Duration.milliseconds(20)

    static func main() async {
        LoggingSystem.bootstrap { StreamLogHandler.standardError(label: $0) }
        do {
            try await speak(to: CommandLine.arguments.dropFirst().first ?? "")
        } catch {
            FileHandle.standardError.write(Data("\(error)\n".utf8))
            exit(1)
        }
    }

    private static func speak(to url: String) async throws {
        guard let configuration = CameraSettings(name: "camera", url: url).rtspConfiguration else {
            throw IoTError(.invalidParameter, "not an RTSP URL")
        }
        let sound = try FileHandle.standardInput.readToEnd() ?? Data()
        let samples = sound.withUnsafeBytes { Array($0.bindMemory(to: Int16.self)) }
        let loudspeaker = BackChannelLoudspeaker(
            configuration, eventLoop: MultiThreadedEventLoopGroup.singleton.next(), logger: Logger(label: "probe"))
        try await loudspeaker.open()
        print("open")
        var next = ContinuousClock.now
        var late = Duration.zero
        for start in stride(from: 0, to: samples.count, by: frameSize) {
            loudspeaker.play(Array(samples[start..<min(start + frameSize, samples.count)]))
            next += frameDuration
            try await Task.sleep(until: next)
            late = max(late, ContinuousClock.now - next)
        }
        try await Task.sleep(for: .seconds(1))
        await loudspeaker.close()
        print("late \(late / .milliseconds(1))")
    }
}
