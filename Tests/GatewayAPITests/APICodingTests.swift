import GatewayAPI
import IoTCore
import Testing

@Suite struct APICodingTests {
    @Test(
        "A body of the wrong form is refused with the invalid member",
        arguments: [
            (#"{"source":0}"#, "device is missing"),
            (#"{"device":5}"#, "device must be a string"),
            (#"{"device":"front","source":"x"}"#, "source: must be a number from 0 to 255, or caller"),
            (#"{"device":"front","source":256}"#, "source: must be a number from 0 to 255, or caller"),
            (#"[]"#, "the body must be an object"),
            (#"{"device""#, "the body is not JSON"),
            ("", "the body is not JSON"),
        ])
    func refusals(text: String, message: String) throws {
        let error = #expect(throws: IoTError.self) {
            try APICoding.decode(ChannelRequest.self, from: text.utf8)
        }
        #expect(error?.code == .invalidRequest)
        #expect(error?.message == message)
    }

    @Test("Unknown members from a newer client are ignored")
    func unknownMembers() throws {
        let text = #"{"device":"front","colour":"red"}"#
        #expect(try APICoding.decode(ChannelRequest.self, from: text.utf8).device == "front")
    }

    @Test("A statistic that is not a number does not make the whole response fail")
    func notANumber() throws {
        var report = StatisticsReport(timestamp: 1)
        report.firstFrameTime = .nan
        report.bitrate = 5
        let back = try APICoding.decode(StatisticsReport.self, from: try APICoding.encode(report))
        #expect(back.firstFrameTime?.isNaN == true)
        #expect(back.bitrate == 5)
    }
}
