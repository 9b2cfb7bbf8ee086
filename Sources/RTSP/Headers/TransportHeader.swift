/// One transport of a `Transport` header (RFC 2326 §12.39).
package struct TransportHeader: Sendable, Hashable {
    package enum Profile: String, Sendable, Hashable, CaseIterable {
        case avp = "RTP/AVP"
        case savp = "RTP/SAVP"
        case avpf = "RTP/AVPF"
    }

    package enum LowerTransport: String, Sendable, Hashable {
        case udp = "UDP"
        case tcp = "TCP"
    }

    /// Two ports or channels: for RTP and for RTCP.
    package struct Pair<Number: FixedWidthInteger & Sendable>: Sendable, Hashable {
        package var rtp: Number
        package var rtcp: Number

        package init(_ rtp: Number, _ rtcp: Number) {
            self.rtp = rtp
            self.rtcp = rtcp
        }

        /// `5000-5001`, or `5000`, which means this number and the next.
        init?(_ text: Substring?) {
            guard let text else { return nil }
            let parts = text.utf8.split(separator: UInt8(ascii: "-"), omittingEmptySubsequences: false)
            guard parts.count <= 2, let first = Number(HeaderParameters.trimmed(Substring(parts[0]))) else {
                return nil
            }
            guard parts.count == 2 else {
                self.init(first, first == .max ? first : first + 1)
                return
            }
            guard let second = Number(HeaderParameters.trimmed(Substring(parts[1]))) else { return nil }
            self.init(first, second)
        }

        var text: String { "\(rtp)-\(rtcp)" }
    }

    package var profile: Profile
    package var lowerTransport: LowerTransport
    /// `nil` if neither `unicast` nor `multicast` is given. By RFC 2326 that means multicast; in practice, unicast.
    package var isMulticast: Bool?
    package var interleaved: Pair<UInt8>?
    package var clientPorts: Pair<UInt16>?
    package var serverPorts: Pair<UInt16>?
    /// For multicast.
    package var ports: Pair<UInt16>?
    /// The address from which packets come, as a host name or a literal; not validated.
    package var source: String?
    package var destination: String?
    package var ttl: UInt8?
    package var ssrc: UInt32?
    /// In upper case: `PLAY`, `RECORD`.
    package var mode: String?

    package init(
        profile: Profile = .avp, _ lowerTransport: LowerTransport, isMulticast: Bool? = false,
        interleaved: Pair<UInt8>? = nil, clientPorts: Pair<UInt16>? = nil, serverPorts: Pair<UInt16>? = nil,
        ssrc: UInt32? = nil, mode: String? = nil
    ) {
        self.profile = profile
        self.lowerTransport = lowerTransport
        self.isMulticast = isMulticast
        self.interleaved = interleaved
        self.clientPorts = clientPorts
        self.serverPorts = serverPorts
        self.ssrc = ssrc
        self.mode = mode
    }

    /// The transports of a header value, in the sender's order of preference. Unknown ones are left out.
    package static func parse(_ text: String) -> [TransportHeader] {
        HeaderParameters.split(Substring(text), ",").compactMap { TransportHeader(parsing: $0) }
    }

    /// `nil` for an unknown protocol, or malformed ports. A malformed `ssrc` or `ttl` is ignored.
    init?(parsing text: Substring) {
        var parameters = HeaderParameters(text).makeIterator()
        guard let first = parameters.next(), first.value == nil,
            let (profile, lower) = Self.protocols[first.name]
        else { return nil }
        self.init(profile: profile, lower, isMulticast: nil)
        while let parameter = parameters.next() {
            guard take(parameter) else { return nil }
        }
    }

    private mutating func take(_ parameter: HeaderParameters.Parameter) -> Bool {
        let value = parameter.value
        switch parameter.name {
        case "unicast": isMulticast = false
        case "multicast": isMulticast = true
        case "interleaved":
            interleaved = Pair(value)
            return interleaved != nil
        case "client_port":
            clientPorts = Pair(value)
            return clientPorts != nil
        case "server_port":
            serverPorts = Pair(value)
            return serverPorts != nil
        case "port":
            ports = Pair(value)
            return ports != nil
        case "source": source = Self.address(value)
        case "destination": destination = Self.address(value)
        case "ttl": ttl = value.flatMap { UInt8($0) }
        case "ssrc": ssrc = value.flatMap { UInt32($0, radix: 16) }
        case "mode": mode = value.flatMap { $0.utf8.allSatisfy(Self.isLetter) ? $0.uppercased() : nil }
        default: break
        }
        return true
    }

    private static func address(_ value: Substring?) -> String? {
        guard let value, (1...256).contains(value.utf8.count) else { return nil }
        let isPlain = value.utf8.allSatisfy { isLetter($0) || (0x30...0x3A).contains($0) || "-._%[]".utf8.contains($0) }
        return isPlain ? String(value) : nil
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(byte | 0x20)
    }

    private static let protocols: [String: (Profile, LowerTransport)] = {
        var table: [String: (Profile, LowerTransport)] = [:]
        for profile in Profile.allCases {
            let name = profile.rawValue.lowercased()
            table[name] = (profile, .udp)
            table[name + "/udp"] = (profile, .udp)
            table[name + "/tcp"] = (profile, .tcp)
        }
        return table
    }()

    package var text: String {
        var parts = [profile.rawValue + (lowerTransport == .tcp ? "/TCP" : "")]
        if let isMulticast { parts.append(isMulticast ? "multicast" : "unicast") }
        if let source { parts.append("source=\(source)") }
        if let destination { parts.append("destination=\(destination)") }
        if let interleaved { parts.append("interleaved=\(interleaved.text)") }
        if let ports { parts.append("port=\(ports.text)") }
        if let ttl { parts.append("ttl=\(ttl)") }
        if let clientPorts { parts.append("client_port=\(clientPorts.text)") }
        if let serverPorts { parts.append("server_port=\(serverPorts.text)") }
        if let ssrc {
            let digits = String(ssrc, radix: 16, uppercase: true)
            parts.append("ssrc=" + String(repeating: "0", count: 8 - digits.count) + digits)
        }
        if let mode { parts.append("mode=\"\(mode)\"") }
        return parts.joined(separator: ";")
    }
}
