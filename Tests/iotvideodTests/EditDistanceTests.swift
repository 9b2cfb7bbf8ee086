import Testing

@testable import iotvideod

@Suite struct EditDistanceTests {
    @Test(
        "Counts insertions, removals and changes, and ignores case",
        arguments: [
            ("", "", 0), ("abc", "", 3), ("kitten", "sitting", 3), ("hub.lisen", "hub.listen", 1), ("A", "a", 0),
        ])
    func distances(left: String, right: String, distance: Int) {
        #expect(EditDistance.between(left, right) == distance)
        #expect(EditDistance.between(right, left) == distance)
    }
}
