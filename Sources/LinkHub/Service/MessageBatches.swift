import IoTLink

/// Puts what a session is sent at once into few messages: each costs the broker and both its clients an
/// acknowledgement and several system calls, which is most of what a write costs.
struct MessageBatches {
    private struct Batch {
        /// Where among the outputs its message stands.
        var place: Int
        var envelopes: [[UInt8]]
        /// Bytes of the message.
        var size: Int
    }

    private var outputs: [HubOutput] = []
    private var batches: [LinkAddress: Batch] = [:]

    /// Keeps the order of what each session is sent, and of that to changes of credentials.
    ///
    /// - Parameter reads: Whether the session reads batches.
    static func join(_ outputs: [HubOutput], reads: (LinkAddress) -> Bool) -> [HubOutput] {
        guard outputs.count > 1 else { return outputs }
        var joined = MessageBatches()
        for output in outputs { joined.add(output, reads: reads) }
        for address in Array(joined.batches.keys) { joined.close(address) }
        return joined.outputs
    }

    private mutating func add(_ output: HubOutput, reads: (LinkAddress) -> Bool) {
        guard case .message(let address, let envelope) = output else {
            // A message behind it may tell of the credential.
            for address in Array(batches.keys) { close(address) }
            outputs.append(output)
            return
        }
        if let batch = batches[address] {
            if batch.size + envelope.count + 1 <= EnvelopeBatch.maximumSize,
                batch.envelopes.count < EnvelopeBatch.maximumCount
            {
                batches[address]?.envelopes.append(envelope)
                batches[address]?.size += envelope.count + 1
                return
            }
            close(address)
        }
        if reads(address) {
            batches[address] = Batch(place: outputs.count, envelopes: [envelope], size: envelope.count + 2)
        }
        outputs.append(output)
    }

    private mutating func close(_ address: LinkAddress) {
        guard let batch = batches.removeValue(forKey: address) else { return }
        outputs[batch.place] = .message(address, EnvelopeBatch.joined(batch.envelopes))
    }
}
