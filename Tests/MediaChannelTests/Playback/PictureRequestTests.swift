import IoTCore
import NIOCore
import RecordingStore
import Testing

@testable import MediaChannel

@Suite("Requests for pictures of recordings")
struct PictureRequestTests {
    private func parse(_ text: String) throws(IoTError) -> PictureRequest? {
        guard let json = try? JSONValue(parsing: text) else { return nil }
        return try PictureRequest(json)
    }

    private func refusal(_ text: String) -> ErrorCode? {
        errorCode { () throws(IoTError) in _ = try parse(text) }
    }

    @Test("A request is read as it was written; a time beyond what a number can have is the latest one")
    func roundTrip() throws {
        let bounds = PictureBounds("320x200")
        for request in [
            PictureRequest(.at(1_795_521_600_000_999), nil), PictureRequest(.at(999), bounds),
            PictureRequest(.first(in: 5_000..<9_000, every: 60_000_000), PictureBounds("64")),
        ] { #expect(try parse(String(buffer: request.bytes)) == request) }
        #expect(
            try parse(String(buffer: PictureRequest(.at(.max), nil).bytes))?.want
                == .at(((1 << 52) - 1) * 1_000 + 999))
    }

    @Test("Wrong requests are refused, and others are left to the files")
    func wrong() throws {
        for text in ["5", "[]", #"{"recording":1}"#] {
            #expect(try parse(text) == nil)
        }
        for picture in [
            "5", "{}", #"{"time":-1}"#, #"{"time":"x"}"#, #"{"from":1,"to":2}"#, #"{"from":1,"to":2,"every":999}"#,
            #"{"from":2,"to":2,"every":1000}"#, #"{"from":1,"to":9223372036854775807,"every":1000}"#,
            #"{"time":1,"width":15}"#, #"{"time":1,"width":99999999999}"#, #"{"time":1,"width":64,"height":0}"#,
        ] { #expect(refusal(#"{"picture":\#(picture)}"#) == .invalidParameter, "\(picture)") }
    }

    @Test("The head of a picture is read as it was written, and a damaged one is refused")
    func head() throws {
        let picture = RecordedPicture(bytes: ByteBuffer(repeating: 1, count: 9), time: 7_000)
        for found in [
            nil, FoundPicture(picture: picture), FoundPicture(part: 1_000..<2_000, picture: nil),
            FoundPicture(part: 1_000..<2_000, picture: picture),
        ] {
            let head = PictureHead(found)
            #expect(try PictureHead(parsing: head.bytes) == head)
        }
        for text in ["", "{}", #"{"size":-1}"#, #"{"size":99999999}"#, #"{"size":"1"}"#] {
            #expect(throws: IoTError.self) { try PictureHead(parsing: ByteBuffer(string: text)) }
        }
    }
}
