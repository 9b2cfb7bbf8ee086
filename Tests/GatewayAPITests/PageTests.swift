import Testing

@testable import GatewayAPI

@Suite struct PageTests {
    private let names = ["d", "a", "c", "b", "e"]

    private func page(_ limit: Int?, after: String? = nil) -> Page<String> {
        Page(of: names, PageRequest(limit: limit, after: after), by: { $0 })
    }

    @Test("Without a limit a list is complete and sorted")
    func whole() {
        let page = page(nil)
        #expect(page.elements == ["a", "b", "c", "d", "e"])
        #expect(page.next == nil)
    }

    @Test("Pages contain every element once, and the last page has no next one", arguments: 1...6)
    func pages(limit: Int) {
        var seen: [String] = []
        var after: String?
        repeat {
            let page = page(limit, after: after)
            #expect((1...limit).contains(page.elements.count))
            seen += page.elements
            after = page.next
        } while after != nil
        #expect(seen == names.sorted())
    }

    @Test("A page continues after an element that was removed")
    func gone() {
        #expect(page(2, after: "bb").elements == ["c", "d"])
        #expect(page(2, after: "z").elements == [])
        #expect(page(2, after: "z").next == nil)
    }
}
