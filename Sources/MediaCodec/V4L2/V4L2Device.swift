import CVideo4Linux
import IoTCore

/// A capture device of Video4Linux (V4L2) with memory-mapped buffers: a thin layer over its system calls.
///
/// Supports only single-planar capture, which all USB cameras have. Only `wait(atMost:)` waits.
final class V4L2Device {
    /// A picture, or an access unit, in a driver's buffer. Valid until the buffer is queued again.
    struct Picture {
        let index: UInt32
        let bytes: UnsafeRawBufferPointer
        /// µs of CLOCK_MONOTONIC; `nil` if the driver uses another clock.
        let time: Int64?
        /// The number of the picture. The driver also counts pictures for which no buffer was free.
        let sequence: UInt32
        let isKeyFrame: Bool
        let isDamaged: Bool
    }

    let path: String
    private let descriptor: Int32
    private var buffers: [UnsafeMutableRawBufferPointer] = []

    // The maximum lengths of a driver's lists. Real lists are much shorter.
    private static let mostFormats = 64
    private static let mostSizes = 256
    /// The device fills the other buffers while one is converted.
    private static let bufferCount = 4

    /// - Throws: `sourceNotFound`, `sourceForbidden`, `sourceBusy`, `sourceUnsupported` (not a capture device),
    ///   `sourceUnreachable`.
    init(path: String) throws(IoTError) {
        self.path = path
        var descriptor: Int32 = -1
        let result = cv4l2_open(path, &descriptor)
        guard result == 0 else { throw IoTError.capture(result, path, whileDoing: "opening") }
        self.descriptor = descriptor
        try checkCapability()
    }

    deinit {
        var type = Int32(Self.type)
        _ = cv4l2_stop_stream(descriptor, &type)
        for buffer in buffers { munmap(buffer.baseAddress, buffer.count) }
        close(descriptor)
    }

    private static var type: UInt32 { V4L2_BUF_TYPE_VIDEO_CAPTURE.rawValue }

    private func check(_ result: Int32, _ action: String) throws(IoTError) {
        guard result == 0 else { throw IoTError.capture(result, path, whileDoing: action) }
    }

    // MARK: Negotiation

    private func checkCapability() throws(IoTError) {
        var capability = v4l2_capability()
        let result = cv4l2_query_capability(descriptor, &capability)
        if result == EINVAL || result == ENOTTY { throw .capture(ENOTTY, path, whileDoing: "querying") }
        try check(result, "querying")
        // `capabilities` describes the whole camera, `device_caps` only this device (V4L2, VIDIOC_QUERYCAP).
        let all = UInt32(truncatingIfNeeded: V4L2_CAP_DEVICE_CAPS)
        let flags = capability.capabilities & all != 0 ? capability.device_caps : capability.capabilities
        guard flags & UInt32(V4L2_CAP_VIDEO_CAPTURE) != 0 else {
            throw IoTError.notACaptureDevice(path, "the device has no single-planar video capture")
        }
        guard flags & UInt32(V4L2_CAP_STREAMING) != 0 else {
            throw IoTError.notACaptureDevice(path, "the device has no memory-mapped buffers")
        }
    }

    /// The formats and sizes that the driver lists.
    func offers() -> [CaptureOffer] {
        var offers: [CaptureOffer] = []
        for index in 0..<Self.mostFormats {
            var format = v4l2_fmtdesc()
            format.index = UInt32(index)
            format.type = Self.type
            // EINVAL ends the list.
            guard cv4l2_enumerate_format(descriptor, &format) == 0 else { break }
            offers.append(CaptureOffer(code: format.pixelformat, sizes: sizes(of: format.pixelformat)))
        }
        return offers
    }

    private func sizes(of code: UInt32) -> CaptureOffer.Sizes {
        var sizes: [PixelSize] = []
        for index in 0..<Self.mostSizes {
            var size = v4l2_frmsizeenum()
            size.index = UInt32(index)
            size.pixel_format = code
            guard cv4l2_enumerate_size(descriptor, &size) == 0 else { break }
            guard size.type == V4L2_FRMSIZE_TYPE_DISCRETE.rawValue else {
                let range = size.stepwise
                return .stepwise(
                    least: PixelSize(width: Int(range.min_width), height: Int(range.min_height)),
                    greatest: PixelSize(width: Int(range.max_width), height: Int(range.max_height)),
                    step: PixelSize(width: Int(range.step_width), height: Int(range.step_height)))
            }
            sizes.append(PixelSize(width: Int(size.discrete.width), height: Int(size.discrete.height)))
        }
        return .discrete(sizes)
    }

    /// Requests a format and a size.
    func set(_ choice: CaptureChoice) throws(IoTError) -> CaptureMode {
        var format = v4l2_format()
        format.type = Self.type
        format.fmt.pix.width = UInt32(choice.size.width)
        format.fmt.pix.height = UInt32(choice.size.height)
        format.fmt.pix.pixelformat = choice.format.code
        format.fmt.pix.field = V4L2_FIELD_NONE.rawValue
        try check(cv4l2_set_format(descriptor, &format), "setting the format of")
        let answer = format.fmt.pix
        return try CaptureMode(
            choice.format, answer: answer.pixelformat,
            size: PixelSize(width: Int(answer.width), height: Int(answer.height)), stride: Int(answer.bytesperline),
            path: path)
    }

    /// Requests a frame rate.
    ///
    /// - Returns: the driver's nearest rate; `nil` if it has no such setting.
    func setFrameRate(_ rate: Int) -> Double? {
        var parameters = v4l2_streamparm()
        parameters.type = Self.type
        guard cv4l2_get_parameters(descriptor, &parameters) == 0,
            parameters.parm.capture.capability & UInt32(V4L2_CAP_TIMEPERFRAME) != 0
        else { return nil }
        parameters.parm.capture.timeperframe = v4l2_fract(numerator: 1, denominator: UInt32(rate))
        guard cv4l2_set_parameters(descriptor, &parameters) == 0 else { return nil }
        let interval = parameters.parm.capture.timeperframe
        guard interval.numerator > 0, interval.denominator > 0 else { return nil }
        return Double(interval.denominator) / Double(interval.numerator)
    }

    /// Requests a key frame with parameter sets every `interval` frames from the device's encoder. Drivers without these
    /// controls keep their own interval.
    func setKeyFrames(every interval: Int) {
        for (identifier, value) in [
            (UInt32(V4L2_CID_MPEG_VIDEO_GOP_SIZE), interval), (UInt32(V4L2_CID_MPEG_VIDEO_H264_I_PERIOD), interval),
            (UInt32(V4L2_CID_MPEG_VIDEO_REPEAT_SEQ_HEADER), 1),
        ] {
            var control = v4l2_ext_control()
            control.id = identifier
            control.value = Int32(clamping: value)
            withUnsafeMutablePointer(to: &control) { pointer in
                var controls = v4l2_ext_controls()
                controls.count = 1
                controls.controls = pointer
                _ = cv4l2_set_controls(descriptor, &controls)
            }
        }
    }

    // MARK: Streaming

    /// Maps the buffers and starts the stream. Call it once.
    func start() throws(IoTError) {
        var request = v4l2_requestbuffers()
        request.count = UInt32(Self.bufferCount)
        request.type = Self.type
        request.memory = V4L2_MEMORY_MMAP.rawValue
        try check(cv4l2_request_buffers(descriptor, &request), "allocating buffers of")
        guard (2...32).contains(request.count) else {
            throw IoTError.capture(ENOMEM, path, whileDoing: "allocating buffers of")
        }
        for index in 0..<request.count {
            var buffer = self.buffer(index)
            try check(cv4l2_query_buffer(descriptor, &buffer), "querying a buffer of")
            var memory: UnsafeMutableRawPointer?
            try check(
                cv4l2_map(descriptor, Int(buffer.length), buffer.m.offset, &memory), "mapping a buffer of")
            buffers.append(UnsafeMutableRawBufferPointer(start: memory, count: Int(buffer.length)))
            try queue(index)
        }
        var type = Int32(Self.type)
        try check(cv4l2_start_stream(descriptor, &type), "starting")
    }

    private func buffer(_ index: UInt32) -> v4l2_buffer {
        var buffer = v4l2_buffer()
        buffer.index = index
        buffer.type = Self.type
        buffer.memory = V4L2_MEMORY_MMAP.rawValue
        return buffer
    }

    /// - Returns: false after the timeout.
    func wait(atMost milliseconds: Int32) throws(IoTError) -> Bool {
        var events: Int16 = 0
        try check(cv4l2_wait(descriptor, milliseconds, &events), "waiting for")
        guard Int32(events) & POLLIN == 0, events != 0 else { return events != 0 }
        // A disconnected device reports an error without a picture. Another wait would return immediately.
        throw IoTError.capture(ENODEV, path, whileDoing: "waiting for")
    }

    /// The next picture, or `nil` if none is ready.
    func dequeue() throws(IoTError) -> Picture? {
        var buffer = self.buffer(0)
        let result = cv4l2_dequeue_buffer(descriptor, &buffer)
        if result == EAGAIN { return nil }
        try check(result, "reading")
        guard Int(buffer.index) < buffers.count else { throw .capture(EIO, path, whileDoing: "reading") }
        let memory = buffers[Int(buffer.index)]
        let isTooLong = Int(buffer.bytesused) > memory.count
        let bytes = UnsafeRawBufferPointer(rebasing: memory[..<(isTooLong ? 0 : Int(buffer.bytesused))])
        let stampedBy = buffer.flags & UInt32(V4L2_BUF_FLAG_TIMESTAMP_MASK)
        let isMonotonic = stampedBy == UInt32(V4L2_BUF_FLAG_TIMESTAMP_MONOTONIC)
        return Picture(
            index: buffer.index, bytes: bytes,
            time: isMonotonic ? Int64(buffer.timestamp.tv_sec) &* 1_000_000 &+ Int64(buffer.timestamp.tv_usec) : nil,
            sequence: buffer.sequence, isKeyFrame: buffer.flags & UInt32(V4L2_BUF_FLAG_KEYFRAME) != 0,
            isDamaged: isTooLong || buffer.flags & UInt32(V4L2_BUF_FLAG_ERROR) != 0)
    }

    /// Returns the buffer to the driver.
    func queue(_ index: UInt32) throws(IoTError) {
        var buffer = self.buffer(index)
        try check(cv4l2_queue_buffer(descriptor, &buffer), "queueing a buffer of")
    }
}
