import IoTCore
import Testing

@Suite struct ChannelSourceTests {
    @Test("A source is the number of a camera or the caller, as text and in JSON")
    func forms() throws {
        for (text, json, source) in [
            ("0", 0, ChannelSource.main), ("255", 255, .camera(255)), ("caller", "caller", .caller),
        ] as [(String, JSONValue, ChannelSource)] {
            #expect(ChannelSource(text) == source && source.description == text)
            #expect(ChannelSource(json) == source && source.json == json)
        }
    }

    @Test("Other texts and values are no source")
    func others() {
        for text in ["", "256", "-1", "01", "+1", "1.0", "Caller", "caller ", "٣"] {
            #expect(ChannelSource(text) == nil, "\(text)")
        }
        for json in [256, -1, 1.5, "0", "other", .null, true, [:]] as [JSONValue] {
            #expect(ChannelSource(json) == nil, "\(json)")
        }
    }
}
