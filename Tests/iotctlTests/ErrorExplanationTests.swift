import IoTCore
import Testing

@testable import iotctl

@Suite("iotctl error") struct ErrorExplanationTests {
    @Test("A number and its name give the same explanation", arguments: ErrorCatalogue.entries.map(\.code.rawValue))
    func known(number: Int) throws {
        let code = ErrorCode(rawValue: number)
        let explanation = try ErrorExplanation(String(number))
        #expect(try ErrorExplanation(code.name) == explanation)
        #expect(explanation.message == code.message && explanation.remedy == code.remedy)
        #expect(explanation.domain?.name == code.domain?.name && explanation.domain != nil)
    }

    @Test("It prints number, name, meaning, remedy and range")
    func text() throws {
        #expect(
            try ErrorExplanation("25024").text == """
                error    25024 tooManyRequests
                meaning  too many requests wait
                remedy   try again later
                range    25000–25999 iotvideod: iotvideod's own
                """)
    }

    @Test("An error that the product does not report says why")
    func unused() throws {
        let entry = try #require(ErrorCatalogue.entries.first { $0.whyUnused != nil })
        let text = try ErrorExplanation(String(entry.code.rawValue)).text
        #expect(text.hasSuffix("unused   this product does not report it: \(entry.whyUnused ?? "")"))
    }

    @Test("A number that is not in the catalogue is explained by its range")
    func unknown() throws {
        let unknown = try ErrorExplanation("14001")
        #expect(unknown.name == "unknown" && unknown.remedy == nil && unknown.domain?.name == "storage")
        #expect(try ErrorExplanation("20151").message == "the maker of the device defines this number")
        #expect(try ErrorExplanation("0").text == "error    0 success\nmeaning  success")
    }

    @Test("Numbers of nobody and unknown names are 25003", arguments: ["8700", "99999", "-5", "bogus", ""])
    func nobody(word: String) {
        #expect(throws: IoTError.self) { try ErrorExplanation(word) }
    }

    @Test("A misspelt name gets a suggestion")
    func suggestion() {
        let error = #expect(throws: IoTError.self) { try ErrorExplanation("deviceOfline") }
        #expect(error?.code == .notFound && error?.message.hasSuffix("did you mean 'deviceOffline'?") == true)
    }
}
