import IoTCore

@testable import IoTLink

extension FuzzTarget {
    /// A parsed envelope, written and parsed again, is the same, and so is each of a batch; a refusal contains the
    /// request's id.
    static let envelope = FuzzTarget(
        "envelope",
        cost: ReadingCost { input in
            _ = try? Envelope(parsing: input)
            _ = EnvelopeBatch.parse(input)
            _ = EnvelopeBatch.split(input)
            _ = RequestHead.id(in: input)
            _ = LinkAddress.parse(topic: String(decoding: input, as: UTF8.self))
        }
    ) { input in
        let head = RequestHead.id(in: input)
        try require(head.map(RequestID.isValid) ?? true, "an id that is not valid for a request: \(head ?? "")")
        if let envelope = try? Envelope(parsing: input) {
            let again = try Envelope(parsing: try envelope.serialized())
            try require(again == envelope, "\(envelope) became \(again)")
            // Names and ids with escapes are not found without parsing.
            if case .request(let request) = envelope, !input.contains(UInt8(ascii: "\\")) {
                try require(head == request.id, "the refusal of \(request.id) would name \(head ?? "nothing")")
            }
        }
        let (envelopes, malformed) = EnvelopeBatch.parse(input)
        try require(envelopes.count + malformed <= input.count + 1, "more envelopes than fit")
        if !envelopes.isEmpty {
            let again = EnvelopeBatch.parse(EnvelopeBatch.joined(try envelopes.map { try $0.serialized() }))
            try require(again.envelopes == envelopes && again.malformed == 0, "\(envelopes) became \(again)")
            if malformed == 0, envelopes.count <= EnvelopeBatch.maximumCount, input.count <= EnvelopeBatch.maximumSize {
                let texts = EnvelopeBatch.split(input)
                try require(try texts.map(Envelope.init(parsing:)) == envelopes, "\(envelopes) was split as \(texts)")
            }
        }
        let topic = String(decoding: input, as: UTF8.self)
        if let (address, direction) = LinkAddress.parse(topic: topic) {
            try require(address.topic(direction) == topic, "\(topic) became \(address.topic(direction))")
        }
    }

    /// An accepted string, written and parsed again, is the same, and its description does not contain the secret.
    static let enrolment = FuzzTarget(
        "enrolment",
        cost: ReadingCost { input in
            _ = try? EnrolmentString(parsing: String(decoding: input, as: UTF8.self))
        }
    ) { input in
        let text = String(decoding: input, as: UTF8.self)
        guard let enrolment = try? EnrolmentString(parsing: text) else { return }
        let again = try EnrolmentString(parsing: enrolment.text)
        try require(again == enrolment, "\(text) became \(enrolment.text)")
        try require(again.text.utf8.elementsEqual(enrolment.text.utf8), "\(enrolment.text) became \(again.text)")
        switch enrolment.place {
        case .tls(let host, let port, let authority):
            try require(!host.isEmpty && (1...65_535).contains(port) && authority.count == 32, "the address is invalid")
        case .unixSocket(let path):
            try require(path.utf8.count <= 107 && path.utf8.first == UInt8(ascii: "/"), "the socket's path is invalid")
        }
    }
}
