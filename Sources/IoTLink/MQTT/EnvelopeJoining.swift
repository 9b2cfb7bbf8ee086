/// Joins envelopes that wait for the broker: each message costs the broker and both of its clients an acknowledgement and
/// several system calls, which is most of the cost of a small request.
struct EnvelopeJoining {
    private struct Batch {
        let topic: String
        var envelopes: [[UInt8]]
        /// Bytes of the message, with its brackets.
        var size: Int
    }

    private enum Message {
        case alone(MosquittoThread.Command)
        case batch(Batch)
    }

    private var messages: [Message] = []

    /// What was taken, in order.
    var commands: [MosquittoThread.Command] {
        messages.map { message in
            switch message {
            case .alone(let command): command
            case .batch(let batch):
                .publish(
                    MQTTMessage(topic: batch.topic, payload: EnvelopeBatch.joined(batch.envelopes)), isJoinable: false)
            }
        }
    }

    /// - Parameter limit: the most messages.
    /// - Returns: false if the command finds no room.
    mutating func take(_ command: MosquittoThread.Command, atMost limit: Int) -> Bool {
        if case .publish(let message, isJoinable: true) = command, case .batch(var batch)? = messages.last,
            batch.topic == message.topic,
            EnvelopeBatch.hasRoom(for: message.payload, count: batch.envelopes.count, size: batch.size)
        {
            messages.removeLast()
            batch.envelopes.append(message.payload)
            batch.size += message.payload.count + 1
            messages.append(.batch(batch))
            return true
        }
        guard messages.count < limit else { return false }
        if case .publish(let message, isJoinable: true) = command {
            messages.append(
                .batch(Batch(topic: message.topic, envelopes: [message.payload], size: message.payload.count + 2)))
        } else {
            messages.append(.alone(command))
        }
        return true
    }
}
