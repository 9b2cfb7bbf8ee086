import NIOCore

@testable import MediaChannel

extension FuzzTarget {
    /// A frame of a call's data that was read, written and read again, is the same; what a peer can make a receiver hold
    /// is bounded.
    static let data = FuzzTarget(
        "data",
        cost: ReadingCost { input in
            _ = try? DataFrame(parsing: ByteBuffer(bytes: input))
        }
    ) { input in
        if let frame = try? DataFrame(parsing: ByteBuffer(bytes: input)) {
            // Invalid UTF-8 in a failure's text is replaced.
            if case .failure = frame {
            } else {
                let again = try DataFrame(parsing: frame.bytes)
                try require(again == frame, "\(frame) became \(String(describing: again))")
            }
        }
        var flow = DataFlow()
        var held = 0
        for datagram in datagrams(input) {
            guard let frame = try? flow.receive(datagram) else { continue }
            held += frame.cost
            try require(held <= DataFlow.window, "\(held) bytes are held")
            if case .finish = frame {
                flow.processed(held)
                held = 0
            }
        }
    }
}
