import Foundation
import IoTCore
import Testing

/// What Fixtures/espressif.py, an independent implementation, computed (Fixtures/espressif_vectors.py).
struct ProvisioningVectors {
    private let value: JSONValue

    static let fixtures = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../Fixtures").standardizedFileURL.path

    init() throws {
        let data = try Data(contentsOf: URL(fileURLWithPath: Self.fixtures + "/espressif_vectors.json"))
        value = try JSONValue(parsing: Array(data))
    }

    var prime: [UInt8] { bytes(value["prime"]) }
    var multiplier: [UInt8] { bytes(value["multiplier"]) }

    func cases(_ name: String) -> [Case] {
        (value[name]?.arrayValue ?? []).map(Case.init)
    }

    struct Case {
        let value: JSONValue

        subscript(_ name: String) -> [UInt8] { bytes(value[name]) }
        func text(_ name: String) -> String { value[name]?.stringValue ?? "" }
        func list(_ name: String) -> [[UInt8]] { (value[name]?.arrayValue ?? []).map(bytes) }
    }
}

private func bytes(_ value: JSONValue?) -> [UInt8] {
    value?.stringValue.flatMap { Hex.decode($0) } ?? []
}
