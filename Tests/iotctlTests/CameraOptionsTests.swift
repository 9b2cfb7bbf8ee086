import ArgumentParser
import GatewayAPI
import IoTCore
import Testing

@testable import iotctl

@Suite struct CameraOptionsTests {
    /// The option of a key: words joined by hyphens. A secret is read from a file.
    private static func option(_ key: CameraKey) -> String {
        let words = key.member.map { $0.isUppercase ? "-" + $0.lowercased() : String($0) }.joined()
        return "--" + (key.traits.contains(.secret) ? words + "-file" : words)
    }

    @Test("camera add and camera set have an option for each key of the API, camera test for each key of the source")
    func options() throws {
        for key in CameraKey.all where key.isInAPI && !key.traits.contains(.required) {
            let option = Self.option(key)
            for (command, isThere) in [
                (CameraCommand.Add.helpMessage(), true), (CameraCommand.Set.helpMessage(), true),
                (CameraCommand.Test.helpMessage(), key.part == .source),
            ] {
                #expect(command.contains("  \(option) ") == isThere, "\(option)")
            }
        }
    }

    @Test("Each option sets its key")
    func give() async throws {
        for key in CameraKey.all
        where key.isInAPI && !key.traits.contains(.required) && !key.traits.contains(.secret) {
            let value: JSONValue =
                switch key.form {
                case .wholeNumber(let range): .integer(Int64(range.upperBound))
                case .choice(let names): .string(names.last ?? "")
                case .source: "/x"
                case .sources: "/x rtsp://192.0.2.7/2"
                case .text where key.name == "certificate": "any"
                case .text where key.name == "callers": .string("SHA256:" + String(repeating: "A", count: 43))
                case .text where key.name == "recordTimes": "sun 12:00-13:00"
                case .text where key.name == "motionIgnore": "0,0,30,8"
                default: "x"
                }
            let text = value.stringValue ?? value.jsonText
            let command = try await CameraCommand.Set.asyncParse(["door", Self.option(key), text])
            #expect(key.get(command.change(password: nil).settings) == value, "\(key.name)")
            #expect(
                CameraKey.all.filter { $0.get(command.change(password: nil).settings) != nil }.map(\.name) == [key.name]
            )
        }
        #expect(try await CameraCommand.Set.asyncParse(["door", "--anonymous"]).change(password: nil).removesUser)
        // Giving the default explicitly counts as a change, too.
        await #expect(throws: Never.self) { try await CameraCommand.Set.asyncParse(["door", "--viewers", "8"]) }
        await #expect(throws: (any Error).self) { try await CameraCommand.Set.asyncParse(["door"]) }
    }
}
