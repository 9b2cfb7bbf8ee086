import IoTCore

@testable import IoTLink
@testable import NetConfig

extension FuzzTarget {
    /// A parsed code, written and parsed again, is the same, in each format that can contain it.
    static let qr = FuzzTarget(
        "qr",
        cost: ReadingCost { input in
            _ = try? ScannedCode(input)
            _ = try? DPPAddress(parsing: String(decoding: input, as: UTF8.self))
            _ = try? EspressifLabel(parsing: String(decoding: input, as: UTF8.self))
            for format in ProvisioningFormat.allCases { _ = try? ProvisioningPayload(decoding: input, as: format) }
        }
    ) { input in
        do {
            switch try ScannedCode(input) {
            case .network(let payload, let format):
                try require(payload.isSame(as: try ProvisioningPayload(decoding: input, as: format)), "it changed")
                for format in ProvisioningFormat.allCases {
                    guard let written = try? payload.encoded(as: format) else { continue }
                    let again = try ProvisioningPayload(decoding: written, as: format)
                    try require(again.isSame(as: payload), "\(payload) became \(again) as \(format)")
                }
            case .label(let label):
                try require(try EspressifLabel(parsing: label.text) == label, "\(label) became \(label.text)")
            case .dpp(let address):
                try require(!address.key.isEmpty, "a DPP address without a key")
            }
        } catch let error as IoTError {
            try require(error.code == .invalidQRInput, "refused with \(error)")
            // The input may contain a password, and the message goes to logs.
            for word in input.split(whereSeparator: { !(0x30...0x39).contains($0) && !(0x41...0x7A).contains($0) })
            where word.count >= 12 {
                let text = String(decoding: word, as: UTF8.self)
                try require(!error.message.contains(text), "the refusal repeats \(text)")
            }
        }
        let text = String(decoding: input, as: UTF8.self)
        if let (id, secret) = try? EnrolmentString.credential(ofToken: text) {
            try require(AccessID(rawValue: id) != nil && !secret.isEmpty, "a token without a name or a secret")
        }
    }
}

extension ProvisioningPayload {
    /// Compares bytes: texts that Unicode regards as equal may be different passwords.
    fileprivate func isSame(as other: ProvisioningPayload) -> Bool {
        func bytes(_ payload: ProvisioningPayload) -> [[UInt8]] {
            [payload.ssid, payload.password, payload.token ?? "", payload.hub ?? "", payload.language ?? ""]
                .map { Array($0.utf8) }
                + payload.extras.sorted { $0.key < $1.key }.map { Array("\($0.key)\($0.value)".utf8) }
        }
        return self == other && bytes(self) == bytes(other)
    }
}
