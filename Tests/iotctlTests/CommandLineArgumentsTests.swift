import ArgumentParser
import Testing

@testable import iotctl

@Suite struct CommandLineArgumentsTests {
    @Test(
        "Global options can precede the command; the command's own words keep their order",
        arguments: [
            ("--json status", "status --json"),
            ("--socket /x status", "status --socket /x"),
            ("--socket=/x device --json list --user bob", "device list --socket=/x --json --user bob"),
            ("--url https://h --token-file f camera ls", "camera ls --url https://h --token-file f"),
            ("--json property write d p -5", "property write --json d p  -5"),
            ("send front -- --json", "send front -- --json"),
            ("-v", "--version"), ("--help", "--help"), ("--json", ""), ("--json device", "device"),
            ("device -v", "device -v"),
            ("help device list", "help device list"),
            ("--json firmware front", "firmware show --json front"), ("firmware", "firmware"),
            ("firmware release list", "firmware release list"),
            ("--socket", ""),
            ("---completion device show -- positional@0 1 0", "---completion device show -- positional@0 1 0"),
            ("--generate-completion-script bash", "--generate-completion-script bash"),
        ])
    func arranged(typed: String, parsed: String) throws {
        let words = typed.split(separator: " ").map(String.init)
        #expect(try CommandLineArguments(words).arranged().joined(separator: " ") == parsed)
    }

    @Test("An unknown command is reported with the probable one, or with all available ones")
    func unknown() throws {
        func message(_ words: String...) throws -> String? {
            #expect(throws: UnknownCommand.self) { try CommandLineArguments(words).arranged() }?.message
        }
        #expect(try message("statu") == "unknown command 'statu'; did you mean 'status'?")
        #expect(try message("--json", "device", "lsit") == "unknown command 'lsit'; did you mean 'list'?")
        #expect(
            try message("camera", "delete")
                == "unknown command 'delete'; there are list, show, test, add, set, remove, accept, refuse, event, data, "
                + "answer, replace-key"
        )
        #expect(try message("mon", "front") == "unknown command 'mon'; did you mean 'monitor'?")
    }

    @Test("--json is recognized at any place, but not as an argument")
    func wantsJSON() {
        #expect(CommandLineArguments(["status", "--json"]).wantsJSON)
        #expect(CommandLineArguments(["--json", "stats"]).wantsJSON)
        #expect(!CommandLineArguments(["send", "front", "--", "--json"]).wantsJSON)
    }

    @Test("Every command parses with a global option before it", arguments: ["ls", "list"])
    func aliases(word: String) async throws {
        let words = try CommandLineArguments(["--json", "device", word]).arranged()
        let command = try await IotctlCommand.asyncParseAsRoot(words) as? DeviceCommand.List
        #expect(command?.options.json == true)
    }

    @Test("The distance counts changes and exchanges of neighbours")
    func distance() {
        #expect(Spelling.distance("list", "lsit") == 1)
        #expect(Spelling.distance("kitten", "sitting") == 3)
        #expect(Spelling.distance("", "abc") == 3)
        #expect(Spelling.nearest(to: "x", in: ["list", "show"]) == nil)
        #expect(Spelling.nearest(to: "", in: ["list"]) == nil)
        #expect(Spelling.nearest(to: String(repeating: "l", count: 100_000), in: ["list"]) == nil)
    }
}
