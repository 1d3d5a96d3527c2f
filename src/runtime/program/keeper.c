#include "runtime/program/keeper.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/io.h"
#include "runtime/program/post.h"
#include "runtime/program/settings.h"
#include "sandbox/worker.h"
#include "value/cbor.h"

enum { STEP = 64 << 10 };
/* Room for heads and error texts in a frame; the same as the host allows. */
enum { FRAME_SLACK = 512 << 10 };
/* Larger buffers are freed between runs. */
enum { KEPT_MAX = 256 << 10 };

/* --- input from the program, the host and the kernel --- */

static void reap(struct gb_keeper *keeper) {
	int status;
	bool any = false;
	for (pid_t pid; (pid = waitpid(-1, &status, WNOHANG | __WALL)) > 0; any = true)
		if (pid == keeper->pid) {
			keeper->pid = 0;
			keeper->wait_status = status;
		}
	if (any && keeper->watched)
		gb_keeper_check_oom_kills(keeper);
}

/* True if the current job must be interrupted. */
static bool handle_signals(struct gb_keeper *keeper) {
	struct signalfd_siginfo info;
	bool interrupted = false;
	while (read(keeper->signals, &info, sizeof info) == sizeof info) {
		/* Accept only signals from outside the PID namespace: their sender has pid 0 here. */
		if (info.ssi_signo == SIGCHLD || info.ssi_pid != 0 || info.ssi_code != SI_QUEUE)
			continue;
		keeper->interrupted_job = info.ssi_int;
		interrupted = true;
	}
	reap(keeper);
	return interrupted && keeper->interrupted_job == keeper->n_jobs;
}

static void interrupt(struct gb_keeper *keeper) {
	keeper->interrupted = true;
	if (keeper->on_interrupt)
		keeper->on_interrupt(keeper);
}

/* False at end of file, on error, and when no data is available now. */
static bool read_output(struct gb_keeper *keeper, int stream) {
	static char bytes[STEP];
	int *fd = &keeper->out[stream - 1];
	ssize_t n = *fd < 0 ? -1 : read(*fd, bytes, sizeof bytes);
	keeper->wrote_output |= n > 0;
	if (n > 0)
		gb_post_output(stream, bytes, (size_t)n);
	else if (n == 0)
		gb_close_fd(fd);
	return n > 0;
}

void gb_keeper_drain(struct gb_keeper *keeper) {
	for (int stream = 1; stream <= 2; stream++)
		while (read_output(keeper, stream))
			;
}

/* Output in OUTPUT frames counts against the same limit as output in the pipes. False if @frame is not
 * OUTPUT. */
static bool forward_output(const struct gb_frame *frame) {
	struct gb_cbor_reader in = gb_cbor_reader(frame->payload, frame->n);
	struct gb_cbor_item stream, bytes;
	if (frame->type != GB_FRAME_OUTPUT || !gb_cbor_next(&in, &stream) ||
	    stream.kind != GB_CBOR_UNSIGNED || stream.argument < 1 || stream.argument > 2 ||
	    !gb_cbor_next(&in, &bytes) || bytes.kind != GB_CBOR_BYTES || in.at != in.end)
		return false;
	gb_post_output((int)stream.argument, bytes.bytes, bytes.argument);
	return true;
}

/* Hold RESULT back, forward everything else immediately. */
static void forward(struct gb_keeper *keeper, const struct gb_frame *frame) {
	const uint8_t *head = frame->payload - GB_FRAME_HEAD;
	if (forward_output(frame))
		return;
	if (frame->type == GB_FRAME_RESULT) {
		gb_buf_clear(&keeper->result);
		gb_buf_append(&keeper->result, frame->payload, frame->n);
	} else if (frame->type != GB_FRAME_LOG || gb_post_charge(frame->n + GB_FRAME_HEAD)) {
		gb_post_frame(head, frame->n + GB_FRAME_HEAD);
	}
}

enum stream { STREAM_OPEN, STREAM_ENDED, STREAM_BROKEN };

/* Read available frames. STREAM_BROKEN: the stream contains something else than a frame, or a frame that is too
 * large. */
static enum stream read_frames(int fd, bool is_socket, struct gb_frame_reader *reader,
    struct gb_keeper *keeper, bool (*receive)(struct gb_keeper *keeper, const struct gb_frame *frame)) {
	size_t room;
	char *into = gb_frame_reader_room(reader, STEP, &room);
	if (!into)
		return STREAM_BROKEN;
	ssize_t n = is_socket ? recv(fd, into, room, MSG_DONTWAIT) : read(fd, into, room);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return STREAM_OPEN;
	keeper->reset |= n < 0 && errno == ECONNRESET;
	if (n <= 0)
		return STREAM_ENDED;
	gb_frame_reader_fed(reader, (size_t)n);
	struct gb_frame frame;
	enum gb_frame_status status;
	while ((status = gb_frame_reader_next(reader, &frame)) == GB_FRAME_READY)
		if (!receive(keeper, &frame))
			return STREAM_OPEN;
	return status == GB_FRAME_BAD ? STREAM_BROKEN : STREAM_OPEN;
}

/* Frames after the RESULT are ignored. */
static bool receive_program_frame(struct gb_keeper *keeper, const struct gb_frame *frame) {
	bool ours = keeper->on_program_frame && keeper->on_program_frame(keeper, frame);
	keeper->wrote_output |= !ours;
	if (!ours && !keeper->result.len)
		forward(keeper, frame);
	return true;
}

static bool receive_host_frame(struct gb_keeper *keeper, const struct gb_frame *frame) {
	if (keeper->on_frame)
		keeper->on_frame(keeper, frame);
	else if (keeper->to_channel >= 0)
		gb_frame_append(&keeper->to_program, frame->type, frame->payload, frame->n);
	return true;
}

static void read_channel(struct gb_keeper *keeper) {
	enum stream stream =
	    read_frames(keeper->channel, false, &keeper->channel_reader, keeper, receive_program_frame);
	if (stream != STREAM_OPEN)
		gb_close_fd(&keeper->channel);
	if (stream == STREAM_BROKEN) {
		keeper->broken = true;
		gb_keeper_stop(keeper);
	}
}

/* --- output to the program --- */

/* Write as much as the program accepts. Discard the rest once the program has closed its end. */
static void feed(struct gb_keeper *keeper, int *fd, struct gb_buf *buf, bool close_at_end) {
	ssize_t n = *fd >= 0 && buf->len ? write(*fd, buf->data, buf->len) : 0;
	if (n > 0)
		gb_buf_consume(buf, (size_t)n);
	if (n < 0 && errno != EAGAIN && errno != EINTR) {
		keeper->reset |= fd == &keeper->to_channel;
		gb_buf_clear(buf);
	}
	if (close_at_end && !buf->len)
		gb_close_fd(fd);
}

/* --- a run --- */

static void limit_processes(
    const struct gb_keeper *keeper, const struct gb_job *job, bool session, uint64_t data) {
	/* A session's hard limit stays unlimited: its next run may have a higher limit. */
	if (data)
		(void)prlimit(
		    keeper->pid, RLIMIT_DATA, &(struct rlimit){data, session ? RLIM_INFINITY : data}, NULL);
	if (job->cpu_seconds && !session)
		(void)prlimit(
		    keeper->pid, RLIMIT_CPU, &(struct rlimit){job->cpu_seconds, job->cpu_seconds + 1}, NULL);
}

static void free_if_large(struct gb_buf *buf) {
	if (!buf->len && buf->cap > KEPT_MAX)
		gb_buf_finish(buf);
}

static void free_if_consumed(struct gb_frame_reader *reader) {
	if (reader->consumed == reader->buf.len) {
		gb_buf_clear(&reader->buf);
		reader->consumed = 0;
		free_if_large(&reader->buf);
	}
}

/* Bound the buffers by the limits of the run, in both directions. */
static void limit_buffers(struct gb_keeper *keeper, const struct gb_job *job) {
	const uint64_t limits[] = {job->output, job->result, job->call, job->report};
	uint64_t largest = 0;
	for (size_t i = 0; i < GB_COUNT(limits); i++)
		largest = limits[i] > largest ? limits[i] : largest;
	gb_buf_clear(&keeper->result);
	free_if_large(&keeper->result);
	free_if_large(&keeper->to_program);
	free_if_consumed(&keeper->channel_reader);
	free_if_consumed(&keeper->host_reader);
	keeper->channel_reader.buf.max = keeper->result.max = largest + FRAME_SLACK;
	keeper->backlog_max = job->call + FRAME_SLACK;
}

bool gb_keeper_begin(
    struct gb_keeper *keeper, const struct gb_job *job, uint64_t data_limit, char *why, size_t n_why) {
	struct gb_settings settings;
	gb_settings_read(job, &settings);
	gb_post_open(keeper->host, job->output);
	limit_buffers(keeper, job);
	keeper->interrupted = keeper->done = keeper->broken = keeper->wrote_output = keeper->reset = false;
	gb_keeper_watch(keeper, job->memory, job->n);
	if (!gb_files_place(&keeper->files, job, why, n_why))
		return false;
	limit_processes(keeper, job, settings.session, data_limit);
	if (keeper->in >= 0) {
		gb_buf_append(&keeper->input, settings.input.p, settings.input.n);
		feed(keeper, &keeper->in, &keeper->input, true);
	}
	if (keeper->to_channel >= 0) {
		gb_frame_append(&keeper->to_program, GB_FRAME_JOB, job->bytes, job->n);
		feed(keeper, &keeper->to_channel, &keeper->to_program, false);
	}
	/* The interrupt arrived before its job was read. */
	if (keeper->interrupted_job == keeper->n_jobs)
		interrupt(keeper);
	return true;
}

static bool is_over(const struct gb_keeper *keeper) {
	return keeper->result.len || !keeper->pid || keeper->done;
}

/* --- other sources --- */

static void list_sources(const struct gb_keeper *keeper, struct pollfd *fds) {
	for (size_t i = 0; i < GB_KEEPER_SOURCES_MAX; i++) {
		const struct gb_keeper_source *source = &keeper->sources[i];
		fds[i] = (struct pollfd){source->on_ready ? source->fd : -1, source->events, 0};
	}
}

static void handle_sources(struct gb_keeper *keeper, const struct pollfd *fds) {
	for (size_t i = 0; i < GB_KEEPER_SOURCES_MAX; i++)
		if (fds[i].revents && keeper->sources[i].on_ready)
			keeper->sources[i].on_ready(keeper, fds[i].revents);
}

bool gb_keeper_turn(struct gb_keeper *keeper, int timeout_ms) {
	enum { SIGNALS, HOST, CHANNEL, TO_CHANNEL, OUT, ERR, IN, ALSO, N_FDS = ALSO + GB_KEEPER_SOURCES_MAX };
	/* If the program does not read, stop reading from the host, which accounts for unsent frames. */
	const size_t backlog = keeper->to_program.len + keeper->n_deferred;
	struct pollfd fds[N_FDS] = {
	    [SIGNALS] = {keeper->signals, POLLIN, 0},
	    [HOST] = {keeper->host, backlog <= keeper->backlog_max ? POLLIN : 0, 0},
	    [CHANNEL] = {keeper->channel, POLLIN, 0},
	    [TO_CHANNEL] = {keeper->to_program.len ? keeper->to_channel : -1, POLLOUT, 0},
	    [OUT] = {keeper->out[0], POLLIN, 0},
	    [ERR] = {keeper->out[1], POLLIN, 0},
	    [IN] = {keeper->input.len ? keeper->in : -1, POLLOUT, 0},
	};
	list_sources(keeper, fds + ALSO);
	/* Batch the output of a short run with its RESULT: delay output briefly. */
	if (!gb_post_may_batch() || poll(fds, N_FDS, 1) == 0) {
		gb_post_flush();
		if (poll(fds, N_FDS, gb_keeper_check_timeout(keeper, timeout_ms)) < 0 && errno != EINTR)
			_exit(1);
	}
	/* Drain output first: output written before the RESULT must be sent before it. */
	if (fds[OUT].revents)
		read_output(keeper, 1);
	if (fds[ERR].revents)
		read_output(keeper, 2);
	handle_sources(keeper, fds + ALSO);
	if (fds[HOST].revents &&
	    read_frames(keeper->host, true, &keeper->host_reader, keeper, receive_host_frame) != STREAM_OPEN)
		_exit(0);
	if (fds[CHANNEL].revents)
		read_channel(keeper);
	if (fds[IN].revents)
		feed(keeper, &keeper->in, &keeper->input, true);
	if (keeper->to_program.len)
		feed(keeper, &keeper->to_channel, &keeper->to_program, false);
	if (fds[SIGNALS].revents && handle_signals(keeper))
		interrupt(keeper);
	if (!is_over(keeper))
		gb_keeper_check_memory(keeper);
	return !is_over(keeper);
}

void gb_keeper_serve(struct gb_keeper *keeper) {
	while (gb_keeper_turn(keeper, -1))
		;
}

/* --- between runs --- */

static struct gb_job *awaited;

static bool receive_job(struct gb_keeper *keeper, const struct gb_frame *frame) {
	if (frame->type != GB_FRAME_JOB) {
		receive_host_frame(keeper, frame);
		return true;
	}
	uint8_t *bytes = malloc(frame->n + 1);
	if (!bytes)
		_exit(1);
	memcpy(bytes, frame->payload, frame->n);
	gb_job_parse(awaited, bytes, frame->n);
	keeper->n_jobs++;
	awaited = NULL;
	return false;
}

void gb_keeper_next_job(struct gb_keeper *keeper, int fd, struct gb_job *ret_job) {
	keeper->host = fd;
	awaited = ret_job;
	gb_keeper_begin_idle(keeper);
	while (awaited) {
		struct pollfd fds[2 + GB_KEEPER_SOURCES_MAX] = {
		    {keeper->signals, POLLIN, 0}, {fd, POLLIN, 0}};
		list_sources(keeper, fds + 2);
		int n = poll(fds, GB_COUNT(fds), gb_keeper_idle_timeout(keeper));
		if (n < 0 && errno != EINTR)
			_exit(1);
		handle_sources(keeper, fds + 2);
		if (fds[0].revents) {
			bool lived = keeper->pid;
			handle_signals(keeper);
			if (lived && !keeper->pid)
				_exit(keeper->out_of_memory ? GB_CELL_EXIT_MEMORY : GB_CELL_EXIT_PROGRAM);
		}
		if (fds[1].revents &&
		    read_frames(fd, true, &keeper->host_reader, keeper, receive_job) != STREAM_OPEN)
			_exit(0);
		gb_keeper_check_idle_memory(keeper, n > 0);
	}
}

void gb_keeper_finish(struct gb_keeper *keeper) {
	gb_read_all(keeper->host, &(char){0}, 1);
	_exit(0);
}
