#pragma once
#include <libavcodec/avcodec.h>
#include <libavformat/avformat.h>
#include <libavutil/avutil.h>
#include <libavutil/channel_layout.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>
#include <libavutil/pixdesc.h>
#include <libswresample/swresample.h>
#include <libswscale/swscale.h>

// Macros that Swift cannot import, as functions.

static inline int cffmpeg_error(int errno_value) { return AVERROR(errno_value); }
static inline int cffmpeg_error_end_of_file(void) { return AVERROR_EOF; }
static inline int cffmpeg_error_invalid_data(void) { return AVERROR_INVALIDDATA; }
static inline int cffmpeg_error_exit(void) { return AVERROR_EXIT; }
static inline int cffmpeg_error_protocol_not_found(void) { return AVERROR_PROTOCOL_NOT_FOUND; }
static inline int cffmpeg_error_unauthorized(void) { return AVERROR_HTTP_UNAUTHORIZED; }
static inline int cffmpeg_error_forbidden(void) { return AVERROR_HTTP_FORBIDDEN; }
static inline int cffmpeg_error_http_not_found(void) { return AVERROR_HTTP_NOT_FOUND; }
static inline int64_t cffmpeg_no_timestamp(void) { return AV_NOPTS_VALUE; }
static inline int cffmpeg_qp_to_lambda(void) { return FF_QP2LAMBDA; }
static inline int cffmpeg_input_padding(void) { return AV_INPUT_BUFFER_PADDING_SIZE; }

// AVRational's microsecond base and rescaling with "no timestamp" passed through.
static inline int64_t cffmpeg_to_microseconds(int64_t time, AVRational base) {
    AVRational microseconds = {1, 1000000};
    return av_rescale_q_rnd(time, base, microseconds, (enum AVRounding)(AV_ROUND_NEAR_INF | AV_ROUND_PASS_MINMAX));
}

// The layout's channel mask, 0 when it has another order.
static inline uint64_t cffmpeg_channel_mask(const AVChannelLayout *layout) {
    return layout->order == AV_CHANNEL_ORDER_NATIVE ? layout->u.mask : 0;
}
