import Testing

@testable import IoTCore

@Suite struct PictureAreasTests {
    @Test("Areas are in per cent of the picture; a cell belongs to one by its middle")
    func areas() throws {
        let areas = try #require(PictureAreas("0,0,30,10; 90,50,100,50"))
        #expect(areas.areas.count == 2)
        let inside = (0..<10).map { row in
            (0..<10).map { areas.contain(column: $0, of: 10, row: row, of: 10) ? "x" : "." }.joined()
        }
        #expect(
            inside == ["xxx......."] + Array(repeating: "..........", count: 4)
                + Array(repeating: ".........x", count: 5))
    }

    @Test(
        "What is no area is refused",
        arguments: [
            "", "1,2,3", "1,2,3,4,5", "0,0,0,5", "0,0,5,0", "101,0,5,5", "0,0,-5,5", "01,0,5,5", "0,0,5,5;", "0,0,5,5 ",
            "a,0,5,5",
            "0;0;5;5", "0,0,5,99999999999999999999", Array(repeating: "0,0,5,5", count: 17).joined(separator: ";"),
        ])
    func refused(text: String) {
        #expect(PictureAreas(text) == nil)
    }
}
