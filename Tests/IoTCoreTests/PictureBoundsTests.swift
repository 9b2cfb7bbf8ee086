import IoTCore
import Testing

@Suite struct PictureBoundsTests {
    @Test("A picture keeps its proportions, fits into the box and is never enlarged")
    func fit() throws {
        for (text, width, height, fitted) in [
            ("640", 768, 576, (640, 480)), ("640x360", 768, 576, (480, 360)), ("640x10000", 768, 576, (640, 480)),
            ("1920", 768, 576, (768, 576)), ("768x576", 768, 576, (768, 576)), ("16", 16_384, 16, (16, 1)),
            ("100", 1, 16_384, (1, 16_384)), ("100x100", 1, 16_384, (1, 100)),
        ] {
            let size = try #require(PictureBounds(text)).fit(width: width, height: height)
            #expect(size.width == fitted.0 && size.height == fitted.1, "\(text): \(size)")
        }
    }

    @Test(
        "Other forms and sizes outside the range are refused",
        arguments: [
            "", "x", "640x", "x360", "640x360x2", "-640", "+640", "6 40", "15", "16385", "0x640", "1e3", "６４０",
            "99999999999999999999",
        ])
    func refused(text: String) {
        #expect(PictureBounds(text) == nil)
    }
}
