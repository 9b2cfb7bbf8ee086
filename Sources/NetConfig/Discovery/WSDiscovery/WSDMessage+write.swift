extension WSDMessage {
    private var action: String {
        switch body {
        case .probe: "Probe"
        case .probeMatches: "ProbeMatches"
        case .hello: "Hello"
        case .bye: "Bye"
        case .resolve: "Resolve"
        case .resolveMatches: "ResolveMatches"
        }
    }

    private var isToEverybody: Bool {
        switch body {
        case .probe, .hello, .bye, .resolve: true
        case .probeMatches, .resolveMatches: false
        }
    }

    /// The message as XML, the content of one datagram.
    var bytes: [UInt8] {
        var header = "<w:MessageID>\(XMLText.escaped(id))</w:MessageID>"
        if let relatesTo { header += "<w:RelatesTo>\(XMLText.escaped(relatesTo))</w:RelatesTo>" }
        header += "<w:To>\(isToEverybody ? WSDNamespace.everybody : WSDNamespace.anonymous)</w:To>"
        header += "<w:Action>\(WSDNamespace.discovery)/\(action)</w:Action>"
        if let sequence {
            header += "<d:AppSequence InstanceId=\"\(sequence.instance)\" MessageNumber=\"\(sequence.number)\"/>"
        }
        let text =
            "<?xml version=\"1.0\" encoding=\"UTF-8\"?><e:Envelope xmlns:e=\"\(WSDNamespace.soap)\" "
            + "xmlns:w=\"\(WSDNamespace.addressing)\" xmlns:d=\"\(WSDNamespace.discovery)\"><e:Header>\(header)"
            + "</e:Header><e:Body><d:\(action)>\(content)</d:\(action)></e:Body></e:Envelope>"
        return Array(text.utf8)
    }

    private var content: String {
        switch body {
        case .probe(let filter):
            Self.types(filter.types) + (filter.scopes.isEmpty ? "" : Self.list("Scopes", filter.scopes, filter.rule))
        case .probeMatches(let targets):
            targets.map { "<d:ProbeMatch>\(Self.target($0))</d:ProbeMatch>" }.joined()
        case .hello(let target): Self.target(target)
        case .bye(let target): Self.reference(target.endpoint)
        case .resolve(let endpoint): Self.reference(endpoint)
        case .resolveMatches(let target):
            target.map { "<d:ResolveMatch>\(Self.target($0))</d:ResolveMatch>" } ?? ""
        }
    }

    private static func target(_ target: WSDTarget) -> String {
        reference(target.endpoint) + types(target.types)
            + (target.scopes.isEmpty ? "" : list("Scopes", target.scopes))
            + (target.serviceURLs.isEmpty ? "" : list("XAddrs", target.serviceURLs))
            + "<d:MetadataVersion>\(target.metadataVersion)</d:MetadataVersion>"
    }

    private static func reference(_ endpoint: String) -> String {
        "<w:EndpointReference><w:Address>\(XMLText.escaped(endpoint))</w:Address></w:EndpointReference>"
    }

    private static func list(_ name: String, _ items: [String], _ rule: WSDFilter.Rule = .rfc3986) -> String {
        let by = rule == .rfc3986 ? "" : " MatchBy=\"\(XMLText.escaped(rule.rawValue))\""
        return "<d:\(name)\(by)>\(XMLText.escaped(items.joined(separator: " ")))</d:\(name)>"
    }

    private static func types(_ types: [XMLElement.Name]) -> String {
        guard !types.isEmpty else { return "" }
        var declarations = ""
        var words: [String] = []
        for (index, type) in types.enumerated() {
            // A name without a namespace has no prefix (Namespaces in XML 1.0 §2.2).
            guard !type.namespace.isEmpty else {
                words.append(type.local)
                continue
            }
            // Some devices ignore namespaces and compare the prefix `dn`.
            let prefix = type.namespace == WSDNamespace.onvifNetwork ? "dn" : "t\(index)"
            if !declarations.contains(" xmlns:\(prefix)=") {
                declarations += " xmlns:\(prefix)=\"\(XMLText.escaped(type.namespace))\""
            }
            words.append("\(prefix):\(type.local)")
        }
        return "<d:Types\(declarations)>\(XMLText.escaped(words.joined(separator: " ")))</d:Types>"
    }
}
