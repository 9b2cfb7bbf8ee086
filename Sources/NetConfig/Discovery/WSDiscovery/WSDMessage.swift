/// One message of WS-Discovery.
struct WSDMessage: Hashable, Sendable {
    enum Body: Hashable, Sendable {
        case probe(WSDFilter)
        case probeMatches([WSDTarget])
        case hello(WSDTarget)
        case bye(WSDTarget)
        /// The endpoint with the requested addresses.
        case resolve(String)
        case resolveMatches(WSDTarget?)
    }

    /// The sender's instance and message number, for receivers that get messages in another order (WS-Discovery §4.3).
    struct Sequence: Hashable, Sendable {
        var instance: UInt32
        var number: UInt32
    }

    /// Unchanged from the sender; an answer repeats it.
    var id: String
    var relatesTo: String?
    var sequence: Sequence?
    var body: Body

    /// A SOAP-over-UDP message fits into one datagram.
    static let maximumSize = XMLLimits.datagram.bytes
}

/// The reason why a datagram is not a message of WS-Discovery.
enum WSDFailure: Error, Hashable {
    case xml(XMLFailure)
    case notAnEnvelope
    case unknownBody
}

extension WSDMessage {
    /// Reads any vendor's messages: the kind of message by namespaces, its content by names.
    ///
    /// - Throws: `WSDFailure`.
    init(_ datagram: [UInt8]) throws(WSDFailure) {
        let envelope: XMLElement
        do throws(XMLFailure) {
            envelope = try XMLReader.read(datagram, .datagram)
        } catch {
            throw .xml(error)
        }
        guard envelope.name.local == "Envelope", let content = envelope.child("Body")?.children.first else {
            throw .notAnEnvelope
        }
        guard [WSDNamespace.discovery, WSDNamespace.discovery11].contains(content.name.namespace) else {
            throw .unknownBody
        }
        let header = envelope.child("Header")
        id = String(header?.child("MessageID")?.text.prefix(256) ?? "")
        relatesTo = header?.child("RelatesTo").map { String($0.text.prefix(256)) }
        sequence = header?.child("AppSequence").flatMap(Sequence.init)
        guard let body = Self.body(content) else { throw .unknownBody }
        self.body = body
    }

    private static func body(_ element: XMLElement) -> Body? {
        switch element.name.local {
        case "Probe": .probe(WSDFilter(element))
        case "ProbeMatches":
            .probeMatches(element.children("ProbeMatch").prefix(WSDTarget.maximumItems).compactMap(WSDTarget.init))
        case "Hello": WSDTarget(element).map(Body.hello)
        case "Bye": WSDTarget(element).map(Body.bye)
        case "Resolve":
            element.descendant("EndpointReference", "Address").map { .resolve(WSDTarget.endpoint($0.text)) }
        case "ResolveMatches": .resolveMatches(element.child("ResolveMatch").flatMap(WSDTarget.init))
        default: nil
        }
    }
}

extension WSDMessage.Sequence {
    fileprivate init?(_ element: XMLElement) {
        guard let instance = element.attribute("InstanceId").flatMap(UInt32.init),
            let number = element.attribute("MessageNumber").flatMap(UInt32.init)
        else { return nil }
        self.init(instance: instance, number: number)
    }
}
