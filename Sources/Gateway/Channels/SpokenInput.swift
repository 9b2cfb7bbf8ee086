import IoTCore
import MediaChannel
import MediaCodec
import NIOCore

/// Reads a sound while it comes, and passes it on for a talk.
struct SpokenInput {
    /// How long the sound may bring nothing.
    private static let patience = Duration.seconds(60)

    private let sound: MediaInput
    private let lease: Lease

    /// - Parameter lease: the talk ends with it.
    init(_ sound: MediaInput, _ lease: Lease) {
        self.sound = sound
        self.lease = lease
    }

    /// Runs `talk` until it ends, or until the sound's sender or the lease fails.
    func play(
        _ talk: @escaping @Sendable (any SpeechSource) async throws -> TalkSummary
    ) async throws -> TalkSummary {
        let bytes = ByteChannel()
        let source = SpeechFileSource(.channel(bytes))
        return try await withThrowingTaskGroup(of: TalkSummary?.self) { group in
            defer {
                source.close()
                group.cancelAll()
            }
            group.addTask { [lease] in
                try await lease.ended()
                return nil
            }
            group.addTask { [sound] in
                try await Self.copy(sound, to: bytes)
                return nil
            }
            group.addTask { try await talk(source) }
            // The first failure is the reason of the end; later ones are its effects.
            while let result = try await group.next() {
                if let summary = result { return summary }
            }
            throw IoTError(.hungUp)
        }
    }

    private static func copy(_ sound: MediaInput, to bytes: ByteChannel) async throws {
        let chunks = Chunks(sound.chunks)
        while let chunk = try await within(
            patience, orThrow: IoTError(.messageTimeout, "the sound brought nothing for a minute"),
            { try await chunks.next() })
        {
            guard await bytes.write(chunk) else { return }
        }
        bytes.finish()
    }
}

/// The chunks of a sound, one at a time.
///
/// `@unchecked Sendable`: only one task asks for a chunk, after it got the one before.
private final class Chunks: @unchecked Sendable {
    private var iterator: any AsyncIteratorProtocol<ByteBuffer, any Error>

    init(_ chunks: any AsyncSequence<ByteBuffer, any Error>) {
        iterator = chunks.makeAsyncIterator()
    }

    func next() async throws -> ByteBuffer? {
        try await iterator.next(isolation: nil)
    }
}
