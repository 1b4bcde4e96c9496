# The app for one person, or for a class: docs/server.md says how to run it.
FROM python:3.12-slim

WORKDIR /source
COPY requirements.lock torch.lock ./
# The CPU build of torch: it is enough, and smaller by several GB.
RUN pip install --no-cache-dir --no-deps --index-url https://download.pytorch.org/whl/cpu \
        $(grep '^torch==' torch.lock) \
    && pip install --no-cache-dir --no-deps --require-hashes -r requirements.lock \
    && pip install --no-cache-dir -c torch.lock torch
COPY . .
RUN pip install --no-cache-dir --no-deps . \
    && rm -rf /source \
    && useradd --create-home explorer \
    && install --directory --owner explorer /data

# Training runs and head reports are written here: mount a folder to keep them.
WORKDIR /data
VOLUME /data
USER explorer
ENV STREAMLIT_SERVER_ADDRESS=0.0.0.0 STREAMLIT_SERVER_HEADLESS=true
EXPOSE 8501
HEALTHCHECK --start-period=60s CMD ["python", "-c", \
    "import urllib.request as u; u.urlopen('http://127.0.0.1:8501/_stcore/health', timeout=5)"]
ENTRYPOINT ["attention-explorer"]
CMD ["start", "--port", "8501"]
