import IoTCore
import NetConfig

/// The content of a QR code in a picture, for display or as JSON. Secrets are printed only on request.
struct CodeReport {
    private struct Field {
        var name: String
        var value: JSONValue
        var isSecret = false
    }

    private let kind: String
    private let fields: [Field]
    private let reveals: Bool

    /// - Throws: `fileFailed`; `invalidQRInput` if there is no code, several, or one in an unknown form; 25016 without
    ///   libzbar.
    init(file: String, reveals: Bool) throws {
        let picture = try LumaPicture(png: try FileInput.read(file, atMost: 64 << 20))
        let codes = try CodeReader().read(picture)
        guard let bytes = codes.first else {
            throw IoTError(.invalidQRInput, "there is no QR code in the picture, or it cannot be read")
        }
        guard codes.count == 1 else {
            throw IoTError(.invalidQRInput, "there are \(codes.count) QR codes in the picture; cut out one")
        }
        self.init(try ScannedCode(bytes), reveals: reveals)
    }

    init(_ code: ScannedCode, reveals: Bool) {
        self.reveals = reveals
        switch code {
        case .network(let network, let format): (kind, fields) = (format.rawValue, Self.fields(of: network))
        case .label(let label): (kind, fields) = ("espressif", Self.fields(of: label))
        case .dpp(let address): (kind, fields) = ("dpp", Self.fields(of: address))
        }
    }

    func print(asJSON: Bool) throws {
        if asJSON {
            var object: JSONValue = ["format": .string(kind)]
            for field in fields where !field.isSecret || reveals { object[field.name] = field.value }
            return try Console.print(object.prettyText)
        }
        try Console.print("format: \(kind)")
        for field in fields {
            let text = field.value.stringValue ?? field.value.jsonText
            let isHidden = field.isSecret && !reveals
            try Console.print("\(field.name): \(isHidden ? "(\(text.utf8.count) bytes; --reveal prints it)" : text)")
        }
    }

    private static func fields(of network: ProvisioningPayload) -> [Field] {
        var fields = [Field(name: "ssid", value: .string(network.ssid))]
        if !network.password.isEmpty { fields.append(secret("password", network.password)) }
        if let token = network.token { fields.append(secret("token", token)) }
        if let hub = network.hub { fields.append(Field(name: "hub", value: .string(hub))) }
        if let language = network.language { fields.append(Field(name: "language", value: .string(language))) }
        if network.isHidden { fields.append(Field(name: "hidden", value: true)) }
        for (tag, text) in network.extras.sorted(by: { $0.key < $1.key }) {
            fields.append(secret("extra \(tag)", text))
        }
        return fields
    }

    private static func fields(of label: EspressifLabel) -> [Field] {
        var fields = [
            Field(name: "name", value: .string(label.name)),
            Field(name: "transport", value: .string(label.transport.rawValue)),
        ]
        if let security = label.security { fields.append(Field(name: "security", value: .integer(Int64(security)))) }
        if let username = label.username { fields.append(Field(name: "username", value: .string(username))) }
        if let proof = label.proof { fields.append(secret("pop", proof)) }
        if let password = label.password { fields.append(secret("password", password)) }
        return fields
    }

    private static func fields(of address: DPPAddress) -> [Field] {
        var fields = [Field(name: "key", value: .string(Hex.encode(address.key)))]
        if let mac = address.mac { fields.append(Field(name: "mac", value: .string(mac))) }
        if !address.channels.isEmpty {
            fields.append(Field(name: "channels", value: .string(address.channels.joined(separator: ","))))
        }
        if let information = address.information {
            fields.append(Field(name: "information", value: .string(information)))
        }
        if let version = address.version { fields.append(Field(name: "version", value: .integer(Int64(version)))) }
        return fields
    }

    private static func secret(_ name: String, _ text: String) -> Field {
        Field(name: name, value: .string(text), isSecret: true)
    }
}
