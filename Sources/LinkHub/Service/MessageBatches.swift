import IoTLink

/// Joins the messages to a session into few: each message costs the broker and both of its clients an acknowledgement
/// and several system calls, which is most of the cost of a write.
struct MessageBatches {
    private struct Batch {
        /// The index of the batch's message among the outputs.
        var place: Int
        var content: EnvelopeBatch.Growing
    }

    private var outputs: [HubOutput] = []
    private var batches: [LinkAddress: Batch] = [:]

    /// Keeps the order of each session's messages, and their order relative to credential changes.
    ///
    /// - Parameter reads: Whether a session reads batches.
    static func join(_ outputs: [HubOutput], reads: (LinkAddress) -> Bool) -> [HubOutput] {
        guard outputs.count > 1 else { return outputs }
        var joined = MessageBatches()
        for output in outputs { joined.add(output, reads: reads) }
        for address in Array(joined.batches.keys) { joined.close(address) }
        return joined.outputs
    }

    private mutating func add(_ output: HubOutput, reads: (LinkAddress) -> Bool) {
        guard case .message(let address, let envelope) = output else {
            // A later message may be about the credential.
            for address in Array(batches.keys) { close(address) }
            outputs.append(output)
            return
        }
        if batches[address]?.content.add(envelope) == true { return }
        close(address)
        if reads(address) {
            batches[address] = Batch(place: outputs.count, content: EnvelopeBatch.Growing(envelope))
        }
        outputs.append(output)
    }

    private mutating func close(_ address: LinkAddress) {
        guard let batch = batches.removeValue(forKey: address) else { return }
        outputs[batch.place] = .message(address, batch.content.message)
    }
}
