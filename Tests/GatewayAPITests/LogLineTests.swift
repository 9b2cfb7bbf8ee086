import GatewayAPI
import Testing

@Suite struct LogLineTests {
    @Test("A line of the log stays one line, and no terminal interprets it")
    func controlCharacters() {
        let line = LogLine(
            t: 0, level: "info", label: "camera", message: "name \u{1B}[2J",
            facts: ["b": "1\n2", "a": "Straße\u{202E}"])
        #expect(line.text == #"info camera: name \u{1B}[2J a=Straße\u{202E} b=1\n2"#)
    }
}
