import Foundation
import IoTCore
import IoTLink
import Testing

@testable import LinkHub

/// What the hub answered and forwarded for every method before its methods had rows: principals of that time still use
/// this hub.
///
/// `Fixtures/link-messages.json` was written by that hub (`WRITE_GOLDEN=1`). A change here is a change of the protocol.
@Suite("Messages as existing principals know them")
struct GoldenMessagesTests {
    typealias Role = RightsFixture.Role

    private static var path: String {
        "/" + #filePath.split(separator: "/").dropLast().joined(separator: "/") + "/Fixtures/link-messages.json"
    }

    @Test("Answers, refusals and forwarded messages match the fixture")
    func messages() throws {
        let fixture = try RightsFixture()
        var found: [String: JSONValue] = [:]
        for row in HubRightsTests.rows {
            found[row.testDescription] = .array(try Self.lines(row, fixture).map { .string($0) })
        }
        if ProcessInfo.processInfo.environment["WRITE_GOLDEN"] == "1" {
            try (JSONValue.object(found).prettyText + "\n").write(toFile: Self.path, atomically: true, encoding: .utf8)
        }
        let golden = try JSONValue(parsing: Array(try Data(contentsOf: URL(fileURLWithPath: Self.path))))
        for (name, lines) in try #require(golden.objectValue) {
            let now = Set(found[name]?.arrayValue ?? [])
            let before = Set(lines.arrayValue ?? [])
            for line in before.subtracting(now) { Issue.record("\(name): was \(line)") }
            for line in now.subtracting(before) { Issue.record("\(name): is \(line)") }
        }
    }

    /// The row as each role asks it, and with each parameter missing or wrong.
    private static func lines(_ row: HubRightsTests.Row, _ fixture: RightsFixture) throws -> [String] {
        var roles: [(line: String, roles: [String])] = []
        for role in Role.allCases {
            let line = try line(row.method, try row.params(fixture, role), role, fixture)
            if let index = roles.firstIndex(where: { $0.line == line }) {
                roles[index].roles.append(role.rawValue)
            } else {
                roles.append((line, [role.rawValue]))
            }
        }
        var lines = roles.map { "\($0.roles.joined(separator: " ")): \($0.line)" }
        guard let place = row.codes.firstIndex(of: 0), case let role = Role.allCases[place],
            let members = try row.params(fixture, role).objectValue
        else { return lines }
        for name in members.keys.sorted() {
            for (kind, value): (String, JSONValue?) in [("missing", nil), ("a list", [1]), ("'?'", "?"), ("1.5", 1.5)] {
                var params = JSONValue.object(members)
                params[name] = value
                lines.append("\(role) with '\(name)' \(kind): \(try line(row.method, params, role, fixture))")
            }
        }
        return lines
    }

    private static func line(
        _ method: String, _ params: JSONValue, _ role: Role, _ fixture: RightsFixture
    ) throws -> String {
        var fixture = fixture
        let before = fixture.hub.stored.count
        let address = fixture.address(role)
        let sent = try fixture.hub.sendRequest(address, method, params).map { sent -> String in
            let receiver = sent.address == address ? "" : "to \(sent.address.principal) "
            let bytes = (try? sent.envelope.serialized()) ?? []
            let value = (try? JSONValue(parsing: bytes)) ?? .null
            return receiver + sorted(value, fixture).jsonText
        }
        let isRemembered = fixture.hub.stored.dropFirst(before).contains { change in
            if case .answer = change { return true }
            return false
        }
        let text = sent.map { plain($0, fixture) }.sorted().joined(separator: " ")
        return (isRemembered ? "(on the disk) " : "") + text
    }

    /// Lists are in the order of random ids.
    private static func sorted(_ value: JSONValue, _ fixture: RightsFixture) -> JSONValue {
        switch value {
        case .array(let list):
            let texts = list.map { (value: sorted($0, fixture), text: plain(sorted($0, fixture).jsonText, fixture)) }
            return .array(texts.sorted { $0.text < $1.text }.map(\.value))
        case .object(let members): return .object(members.mapValues { sorted($0, fixture) })
        default: return value
        }
    }

    /// Replaces what is random.
    private static func plain(_ text: String, _ fixture: RightsFixture) -> String {
        let end = "(?![A-Za-z0-9_-])"
        let patterns = [
            (fixture.hub.front.rawValue, "FRONT"), (fixture.hub.back.rawValue, "BACK"),
            (#"[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{20,}\.[A-Za-z0-9_-]{20,}"#, "JWT"),
            (#"write\.([0-9]+)\.([0-9]+)\.[0-9a-f]{16}"#, "write.$1.$2.HEX"),
            ("[0-9a-f]{32}" + end, "HEX"), ("temporary-[0-9a-f]{8}", "TEMPORARY"), ("enrol-[0-9a-f]{16}", "ENROL"),
            ("enrol-[0-9a-f]{10}" + end, "ENROL"), (#"ENROL\.[A-Za-z0-9_-]{22}"# + end, "ENROL.SECRET"),
            ("(?<![A-Za-z0-9_-])[0-9a-f]{10}[A-Za-z0-9_-]{22}" + end, "KEY"),
            ("(?<![A-Za-z0-9_-])(?=[0-9]*[a-f])[0-9a-f]{10}" + end, "KEYID"),
            (#""id":"[0-9]{10}""#, #""id":"KEYID""#), (#""x":"[A-Za-z0-9_-]{43}""#, #""x":"POINT""#),
            (#""kid":"[A-Za-z0-9_-]+""#, #""kid":"KID""#),
        ]
        return patterns.reduce(text) { text, pattern in
            text.replacingOccurrences(of: pattern.0, with: pattern.1, options: .regularExpression)
        }
    }
}
