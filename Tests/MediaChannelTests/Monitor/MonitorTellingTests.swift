import IoTCore
import MediaPlayer
import NIOEmbedded
import Testing

@testable import MediaChannel

@Suite struct MonitorTellingTests {
    @Test("A warning about one use goes only to that use, and a warning about the channel to all")
    func warnings() async {
        let telling = MonitorTelling(eventLoop: EmbeddedEventLoop())
        ["slow", "fast"].forEach(telling.join)
        let streams = ["slow", "fast"].map(telling.subscribe)
        telling.take(.warning(IoTError(.slowReader), use: "slow"))
        telling.take(.warning(IoTError(.notImplemented), use: nil))
        telling.take(.warning(IoTError(.slowReader), use: "gone"))
        telling.take(.ended(nil))
        var received: [[ErrorCode]] = []
        for stream in streams {
            var codes: [ErrorCode] = []
            for await event in stream {
                if case .warning(let error) = event { codes.append(error.code) }
            }
            received.append(codes)
        }
        #expect(received == [[.slowReader, .notImplemented], [.notImplemented]])
    }
}
