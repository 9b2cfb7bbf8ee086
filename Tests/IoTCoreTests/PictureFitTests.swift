import IoTCore
import Testing

@Suite struct PictureFitTests {
    private typealias Area = PictureFit.Area

    @Test("A size is two even numbers in the range")
    func text() {
        #expect(PictureFit("640x360") == PictureFit(width: 640, height: 360, scaling: .aspectFit))
        for text in [
            "640", "641x360", "640x361", "14x360", "1922x360", "640x", "x", "", "640x360x2", "-640x360", "0640x360",
        ] {
            #expect(PictureFit(text) == nil, "\(text)")
        }
    }

    /// Of 768x576, a picture of 4:3, in 640x360.
    @Test(
        "Bars, crops and stretches, in the middle",
        arguments: [
            (
                .aspectFit, Area(left: 0, top: 0, width: 768, height: 576),
                Area(left: 80, top: 0, width: 480, height: 360)
            ),
            (
                .aspectFill, Area(left: 0, top: 72, width: 768, height: 432),
                Area(left: 0, top: 0, width: 640, height: 360)
            ),
            (.fill, Area(left: 0, top: 0, width: 768, height: 576), Area(left: 0, top: 0, width: 640, height: 360)),
            (.none, Area(left: 64, top: 108, width: 640, height: 360), Area(left: 0, top: 0, width: 640, height: 360)),
        ] as [(PictureScaling, PictureFit.Area, PictureFit.Area)])
    func modes(scaling: PictureScaling, source: PictureFit.Area, target: PictureFit.Area) throws {
        let fit = try #require(PictureFit(width: 640, height: 360, scaling: scaling))
        let areas = fit.areas(width: 768, height: 576)
        #expect(areas.source == source && areas.target == target, "\(areas)")
    }

    @Test("Pixels that are not square keep the picture's proportions; a small picture is not enlarged without scaling")
    func aspects() throws {
        let fit = try #require(PictureFit(width: 640, height: 360))
        #expect(fit.areas(width: 720, height: 576, pixelAspect: 64 / 45).target.width == 640)
        let none = try #require(PictureFit(width: 640, height: 360, scaling: .none)).areas(width: 320, height: 480)
        #expect(none.source == Area(left: 0, top: 60, width: 320, height: 360))
        #expect(none.target == Area(left: 160, top: 0, width: 320, height: 360))
    }

    @Test("Every area lies within its picture, and the target at even numbers", arguments: PictureScaling.allCases)
    func bounds(scaling: PictureScaling) throws {
        for (width, height) in [(1, 1), (2, 3_000), (3_001, 2), (17, 19), (7_680, 4_320)] {
            for (w, h) in [(16, 16), (1_920, 16), (16, 1_920), (642, 362)] {
                for aspect in [0, 0.01, 1, 100, .infinity, .nan] {
                    let fit = try #require(PictureFit(width: w, height: h, scaling: scaling))
                    let (source, target) = fit.areas(width: width, height: height, pixelAspect: aspect)
                    for (area, outer) in [(source, (width, height)), (target, (w, h))] {
                        #expect(area.left >= 0 && area.top >= 0 && area.width > 0 && area.height > 0)
                        #expect(area.left + area.width <= outer.0 && area.top + area.height <= outer.1)
                    }
                    #expect([target.left, target.top, target.width, target.height].allSatisfy { $0.isMultiple(of: 2) })
                }
            }
        }
    }
}
