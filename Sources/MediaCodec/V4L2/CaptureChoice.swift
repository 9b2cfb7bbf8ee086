import IoTCore

/// A size in pixels.
struct PixelSize: Sendable, Equatable {
    var width: Int
    var height: Int

    var area: Int { width * height }

    func fits(in other: PixelSize) -> Bool { width <= other.width && height <= other.height }
}

/// A pixel format that a device offers, with its sizes.
struct CaptureOffer: Sendable, Equatable {
    enum Sizes: Sendable, Equatable {
        /// Empty if the driver does not list them.
        case discrete([PixelSize])
        case stepwise(least: PixelSize, greatest: PixelSize, step: PixelSize)
    }

    /// V4L2's code.
    var code: UInt32
    var sizes: Sizes

    /// The largest size that fits in `wanted`; the smallest if none fits.
    func size(for wanted: PixelSize) -> PixelSize {
        switch sizes {
        case .discrete(let sizes):
            let fitting = sizes.filter { $0.fits(in: wanted) }.max { $0.area < $1.area }
            return fitting ?? sizes.min { $0.area < $1.area } ?? wanted
        case .stepwise(let least, let greatest, let step):
            func nearest(_ wanted: Int, _ least: Int, _ greatest: Int, _ step: Int) -> Int {
                let limited = max(least, min(wanted, greatest))
                return limited - (limited - least) % max(1, step)
            }
            return PixelSize(
                width: nearest(wanted.width, least.width, greatest.width, step.width),
                height: nearest(wanted.height, least.height, greatest.height, step.height))
        }
    }
}

/// The format and the size to ask a device for.
struct CaptureChoice: Sendable, Equatable {
    var format: CaptureFormat
    var size: PixelSize

    /// Chooses the first format of `CaptureFormat.all` that is offered; `nil` if none is.
    init?(_ offers: [CaptureOffer], wanted: PixelSize) {
        for format in CaptureFormat.all {
            guard let offer = offers.first(where: { $0.code == format.code }) else { continue }
            self.format = format
            size = offer.size(for: wanted)
            return
        }
        return nil
    }
}

/// The driver's answer to a choice. The driver may change every value (V4L2, VIDIOC_S_FMT).
struct CaptureMode: Sendable, Equatable {
    var format: CaptureFormat
    var size: PixelSize
    /// The bytes of one row of the first plane; 0 unless raw.
    var stride: Int

    private static let sides = 16...8192

    /// - Throws: `sourceUnsupported` if the answer has another format, a side outside 16–8192 pixels, or rows that are
    ///   shorter than the picture or over 16 times as long.
    init(_ format: CaptureFormat, answer code: UInt32, size: PixelSize, stride: Int, path: String) throws(IoTError) {
        func refusal(_ reason: String) -> IoTError {
            IoTError(
                .sourceUnsupported, "the device \(path) cannot be set to \(format.name): \(reason)",
                remedy: "choose another `pictureSize`; `v4l2-ctl --list-formats-ext` lists the device's formats")
        }
        guard code == format.code else { throw refusal("it stays at \(FourCC.name(code))") }
        guard Self.sides.contains(size.width), Self.sides.contains(size.height) else {
            throw refusal("it answers with \(size.width)x\(size.height) pixels")
        }
        let least = format.leastStride(width: size.width)
        // Old drivers return 0, which means no padding.
        let stride = stride == 0 ? least : stride
        guard least == 0 || (least...16 * least).contains(stride) else {
            throw refusal("it answers with rows of \(stride) bytes for \(size.width) pixels")
        }
        self.format = format
        self.size = size
        self.stride = least == 0 ? 0 : stride
    }

    /// The number of pictures to use per second.
    ///
    /// - Parameters:
    ///   - wanted: the requested rate. It is the limit if the driver reports no rate or a much higher one, because
    ///     each picture costs CPU time.
    ///   - reported: the driver's answer; `nil` if the driver has no such setting.
    static func rate(wanted: Double, reported: Double?) -> Double {
        guard let reported, reported > 0, reported <= 1.5 * wanted else { return wanted }
        return reported
    }
}
