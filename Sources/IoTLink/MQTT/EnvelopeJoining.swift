/// Joins envelopes that wait for the broker: each message costs the broker and both of its clients an acknowledgement and
/// several system calls, which is most of the cost of a small request.
struct EnvelopeJoining {
    private enum Message {
        case alone(MosquittoThread.Command)
        case batch(topic: String, EnvelopeBatch.Growing)
    }

    private var messages: [Message] = []

    /// What was taken, in order.
    var commands: [MosquittoThread.Command] {
        messages.map { message in
            switch message {
            case .alone(let command): command
            case .batch(let topic, let content):
                .publish(MQTTMessage(topic: topic, payload: content.message), isJoinable: false)
            }
        }
    }

    /// - Parameter limit: the most messages.
    /// - Returns: false if the command finds no room.
    mutating func take(_ command: MosquittoThread.Command, atMost limit: Int) -> Bool {
        guard case .publish(let message, isJoinable: true) = command else {
            return append(.alone(command), atMost: limit)
        }
        return join(message) || append(.batch(topic: message.topic, .init(message.payload)), atMost: limit)
    }

    /// Adds an envelope to the last message, if that is a batch for the same topic with room for it.
    private mutating func join(_ message: MQTTMessage) -> Bool {
        guard case .batch(message.topic, var content)? = messages.last else { return false }
        // Without the other reference, the batch is not copied.
        messages.removeLast()
        defer { messages.append(.batch(topic: message.topic, content)) }
        return content.add(message.payload)
    }

    private mutating func append(_ message: Message, atMost limit: Int) -> Bool {
        guard messages.count < limit else { return false }
        messages.append(message)
        return true
    }
}
